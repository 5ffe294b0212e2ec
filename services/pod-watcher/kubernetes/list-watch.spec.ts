import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { silent, until } from '../fakes.ts';
import { type Api, type ApiError, connectApi } from './api.ts';
import { type Change, Source } from './list-watch.ts';
import { type Pod, pods } from './objects.ts';

/** An API server that answers as the spec scripts it; the last answer of each kind is given again and again. */
class ScriptedServer {
  readonly requests: URL[] = [];
  readonly lists: Answer[] = [];
  readonly watches: Answer[] = [];
  /** Where the server says that it is, when it is asked for that alone. */
  version = '1000000';
  readonly #server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://server');
    this.requests.push(url);
    if (url.searchParams.get('limit') === '1') return list(this.version)(response, url);
    const queue = url.searchParams.has('watch') ? this.watches : this.lists;
    const answer =
      (queue.length > 1 ? queue.shift() : queue[0]) ?? ((each: Response) => void each.writeHead(500).end());
    answer(response, url);
  });

  async start(base = ''): Promise<Api> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const { port } = this.#server.address() as AddressInfo;
    return connectApi(configFor(`http://127.0.0.1:${port}${base}`));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get watched(): URLSearchParams[] {
    return this.requests.filter((url) => url.searchParams.has('watch')).map(({ searchParams }) => searchParams);
  }

  get listed(): number {
    const whole = (url: URL): boolean => !url.searchParams.has('watch') && url.searchParams.get('limit') !== '1';
    return this.requests.filter(whole).length;
  }
}

type Response = http.ServerResponse;
type Answer = (response: Response, url: URL) => void;

function configFor(server: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: true }, { name: 'u', token: 'secret' });
  return config;
}

const raw = (name: string, version: string, uid = `uid-${name}`) => ({
  metadata: { name, namespace: 'default', uid, resourceVersion: version },
});
const list =
  (version: string, ...items: object[]): Answer =>
  (response) =>
    void response.end(JSON.stringify({ metadata: { resourceVersion: version }, items }));
const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const bookmark = (version: string): string => event('BOOKMARK', { metadata: { resourceVersion: version } });
const status = (code: number, message: string): string =>
  JSON.stringify({ kind: 'Status', code, message, reason: 'Expired' });
const refuse =
  (code: number, message: string): Answer =>
  (response) =>
    void response.writeHead(code, { 'content-type': 'application/json' }).end(status(code, message));
/** Says this and stays open. */
const say =
  (...texts: string[]): Answer =>
  (response) =>
    void response.write(texts.join(''));
const sayAndEnd =
  (...texts: string[]): Answer =>
  (response) =>
    void response.end(texts.join(''));
/** Says this, and the connection breaks. */
const sayAndBreak =
  (...texts: string[]): Answer =>
  (response) =>
    void response.write(texts.join(''), () => response.socket?.resetAndDestroy());
const pace = { firstBackoffMs: 1, mostBackoffMs: 5, silenceMs: 60_000, pageSize: 2 };

describe('list and watch', () => {
  let server: ScriptedServer;
  let stop: AbortController;
  let running: Promise<void> | undefined;

  beforeEach(() => {
    server = new ScriptedServer();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await server.stop();
  });

  async function started(more: object = {}): Promise<{ source: Source<Pod>; told: string[] }> {
    const source = new Source(await server.start(), pods, silent, { ...pace, ...more });
    const told: string[] = [];
    source.subscribe((change) => told.push(describeChange(change)));
    running = source.run(stop.signal);
    return { source, told };
  }

  function describeChange(change: Change<Pod>): string {
    if (change.kind === 'listed') return 'listed';
    const { name, uid } = change.object;
    if (change.kind === 'gone') return `gone ${name} ${uid} ${change.witnessed ? 'witnessed' : 'missing'}`;
    return `${change.before ? 'changed' : 'new'} ${name} ${uid}`;
  }

  it('reads the list in pages, then watches from where it ended, asking for bookmarks', async () => {
    const page: Answer = (response) =>
      void response.end(
        JSON.stringify({
          metadata: { resourceVersion: '10', continue: 'more' },
          items: [raw('a', '1'), raw('b', '2')],
        }),
      );
    server.lists.push(page, list('10', raw('c', '3')));
    server.watches.push(say(event('ADDED', raw('d', '11'))));
    const { source, told } = await started();
    await until(() => told.includes('new d uid-d'));
    expect(told).to.deep.equal(['new a uid-a', 'new b uid-b', 'new c uid-c', 'listed', 'new d uid-d']);
    expect([...source.objects.keys()]).to.deep.equal(['default/a', 'default/b', 'default/c', 'default/d']);
    expect(server.requests.map(({ searchParams }) => searchParams.get('continue') ?? '')).to.deep.equal([
      '',
      'more',
      '',
    ]);
    expect(server.requests[0]?.searchParams.get('limit')).to.equal('2');
    const [watch] = server.watched;
    expect(watch?.get('resourceVersion')).to.equal('10');
    expect(watch?.get('allowWatchBookmarks')).to.equal('true');
    expect(Number(watch?.get('timeoutSeconds'))).to.be.within(270, 330);
    expect(source.listed).to.equal(true);
    expect(source.silentMs).to.be.within(0, source.mostSilentMs);
    expect(source.mostSilentMs).to.equal(60_000);
  });

  it('tells additions, changes and deletions, and drops repeats', async () => {
    server.lists.push(list('10', raw('a', '1')));
    server.watches.push(
      say(
        event('MODIFIED', raw('a', '1')),
        event('MODIFIED', raw('a', '11')),
        event('DELETED', raw('a', '12')),
        event('DELETED', raw('a', '12')),
        event('ADDED', raw('a', '13', 'second')),
      ),
    );
    const { told } = await started();
    await until(() => told.includes('new a second'));
    expect(told).to.deep.equal(['new a uid-a', 'listed', 'changed a uid-a', 'gone a uid-a witnessed', 'new a second']);
  });

  for (const [what, broken] of [
    ['the server ends the watch', sayAndEnd(event('ADDED', raw('b', '11')))],
    ['the connection breaks', sayAndBreak(event('ADDED', raw('b', '11')))],
    [
      'the server fails in the middle',
      sayAndEnd(event('ADDED', raw('b', '11')), event('ERROR', { code: 500, message: 'etcd is away' })),
    ],
    ['a line is cut off', sayAndEnd(event('ADDED', raw('b', '11')), '{"type":"ADD')],
    ['a line is no JSON', sayAndEnd(event('ADDED', raw('b', '11')), 'not json\n')],
  ] as const)
    it(`goes on from the last event when ${what}`, async () => {
      server.lists.push(list('10', raw('a', '1')));
      server.watches.push(broken, say(event('ADDED', raw('c', '12'))));
      const { told } = await started();
      await until(() => told.includes('new c uid-c'));
      expect(told).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b', 'new c uid-c']);
      expect(server.listed).to.equal(1);
      expect(server.watched.map((query) => query.get('resourceVersion'))).to.deep.equal(['10', '11']);
    });

  it('goes on from the last bookmark', async () => {
    server.lists.push(list('10'));
    server.watches.push(sayAndEnd(bookmark('500')), say());
    await started();
    await until(() => server.watched.length === 2);
    expect(server.watched[1]?.get('resourceVersion')).to.equal('500');
  });

  it('keeps trying while the server answers 500, 429 or nothing', async () => {
    server.lists.push(refuse(500, 'no'), refuse(429, 'storage is (re)initializing'), list('10', raw('a', '1')));
    server.watches.push(
      refuse(500, 'no'),
      (response) => void response.socket?.resetAndDestroy(),
      say(event('ADDED', raw('b', '11'))),
    );
    const { told } = await started();
    await until(() => told.includes('new b uid-b'));
    expect(told).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b']);
    expect(server.watched.map((query) => query.get('resourceVersion'))).to.deep.equal(['10', '10', '10']);
  });

  for (const [what, tooOld] of [
    ['at once', refuse(410, 'too old resource version')],
    ['in the middle', sayAndEnd(event('ERROR', { code: 410, message: 'too old resource version' }))],
  ] as const)
    it(`lists anew when its history is gone, said ${what}, and tells the differences by uid`, async () => {
      server.lists.push(
        list('10', raw('stays', '1'), raw('goes', '2'), raw('again', '3', 'first'), raw('changes', '4')),
        list('20', raw('stays', '1'), raw('again', '15', 'second'), raw('changes', '16'), raw('comes', '17')),
      );
      server.watches.push(tooOld, say(event('ADDED', raw('last', '21'))));
      const { source, told } = await started();
      await until(() => told.includes('new last uid-last'));
      expect(told.slice(5)).to.deep.equal([
        'gone goes uid-goes missing',
        'gone again first witnessed',
        'new again second',
        'changed changes uid-changes',
        'new comes uid-comes',
        'listed',
        'new last uid-last',
      ]);
      expect(source.objects.get('default/again')?.uid).to.equal('second');
      expect(server.watched.at(-1)?.get('resourceVersion')).to.equal('20');
    });

  it('lists anew when the server was put back to an earlier state: a watch from the later one would stay silent', async () => {
    server.lists.push(list('20', raw('stays', '1'), raw('lost', '15')), list('12', raw('stays', '1')));
    server.watches.push(sayAndBreak(bookmark('30')), say(event('ADDED', raw('new', '13'))));
    server.version = '12';
    const { told } = await started();
    await until(() => told.includes('new new uid-new'));
    expect(told.slice(3)).to.deep.equal(['gone lost uid-lost missing', 'listed', 'new new uid-new']);
    expect(server.watched.map((query) => query.get('resourceVersion'))).to.deep.equal(['20', '12']);
  });

  for (const [what, answer] of [
    ['no items', { metadata: { resourceVersion: '20' } }],
    ['no version', { metadata: {}, items: [] }],
    ['nothing', undefined],
  ] as const)
    it(`takes an answer with ${what} for no list: nobody is gone by it`, async () => {
      const odd: Answer = (response) => void response.end(JSON.stringify(answer));
      server.lists.push(list('10', raw('a', '1')), odd, list('20', raw('a', '1'), raw('b', '2')));
      server.watches.push(refuse(410, 'too old resource version'), say());
      const { told } = await started();
      await until(() => told.includes('new b uid-b'));
      expect(told).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b', 'listed']);
    });

  it('starts a list again whose continuation has expired', async () => {
    const page: Answer = (response) =>
      void response.end(
        JSON.stringify({ metadata: { resourceVersion: '10', continue: 'more' }, items: [raw('a', '1')] }),
      );
    server.lists.push(page, refuse(410, 'the provided continue parameter is too old'), list('20', raw('b', '2')));
    server.watches.push(say());
    const { told } = await started();
    await until(() => told.includes('listed'));
    expect(told).to.deep.equal(['new b uid-b', 'listed']);
  });

  it('gives up a watch that is silent, and goes on', async () => {
    server.lists.push(list('10'));
    server.watches.push((response) => response.flushHeaders(), say(event('ADDED', raw('a', '11'))));
    const { told } = await started({ silenceMs: 50 });
    await until(() => told.includes('new a uid-a'));
  });

  it('lists again now and then', async () => {
    server.lists.push(list('10', raw('a', '1')), list('20'));
    server.watches.push(sayAndEnd(bookmark('11')), say());
    const { told } = await started({ relistMs: 0 });
    await until(() => told.length === 4);
    expect(told).to.deep.equal(['new a uid-a', 'listed', 'gone a uid-a missing', 'listed']);
  });

  it('goes on watching while the API server is too busy for a full list', async () => {
    server.lists.push(list('10', raw('a', '1')), refuse(429, 'too many requests'));
    server.watches.push(sayAndEnd(bookmark('11')), say(event('ADDED', raw('b', '12'))));
    const { told } = await started({ relistMs: 0 });
    await until(() => told.includes('new b uid-b'));
    expect(told).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b']);
    expect(server.watched.at(-1)?.get('resourceVersion')).to.equal('11');
  });

  it('leaves out what it cannot understand, and survives a listener that throws', async () => {
    server.lists.push(list('10', { metadata: {} }, raw('a', '1')));
    server.watches.push(say(event('ADDED', { metadata: {} }), event('SOMETHING', {}), event('ADDED', raw('b', '11'))));
    const source = new Source(await server.start(), pods, silent, pace);
    const heard: string[] = [];
    source.subscribe(() => {
      throw new Error('a bug');
    });
    source.subscribe((change) => heard.push(describeChange(change)));
    running = source.run(stop.signal);
    await until(() => heard.includes('new b uid-b'));
    expect(heard).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b']);
  });

  it('ends when it is told to, and throws nothing', async () => {
    server.lists.push(list('10'));
    server.watches.push(say());
    const { told } = await started();
    await until(() => told.includes('listed'));
    stop.abort();
    await running;
  });
});

describe('HTTP to the API server', () => {
  let server: ScriptedServer;
  beforeEach(() => (server = new ScriptedServer()));
  afterEach(() => server.stop());

  const { signal } = new AbortController();
  const failure = async (promise: Promise<unknown>): Promise<ApiError> =>
    promise.then(
      () => expect.fail('no error'),
      (error: unknown) => error as ApiError,
    );

  it('says in one sentence what was asked and what was answered', async () => {
    server.lists.push(refuse(422, 'Pod "a" is invalid'));
    const api = await server.start();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 5_000, signal }));
    expect(error.message).to.equal('GET /x: 422 Pod "a" is invalid');
    expect(error).to.include({ status: 422, field: '', reaction: 'invalid' });
  });

  it('copes with an answer that is no Status', async () => {
    server.lists.push((response) => void response.writeHead(502).end('<html>bad gateway</html>'));
    const api = await server.start();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 5_000, signal }));
    expect(error).to.include({ status: 502, reaction: 'later', message: 'GET /x: 502 <html>bad gateway</html>' });
  });

  it('gives up when no answer comes, and says after how long', async () => {
    server.lists.push(() => undefined);
    const api = await server.start();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 20, signal }));
    expect(error).to.include({ status: 0, reaction: 'later', message: 'GET /x: no answer within 20 ms' });
  });

  it('waits no longer for credentials than for an answer', async () => {
    const config = configFor('http://127.0.0.1:1');
    config.applyToHTTPSOptions = () => new Promise(() => undefined);
    const api = connectApi(config);
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 20, signal }));
    expect(error).to.include({ status: 0, message: 'GET /x: no answer within 20 ms' });
  });

  it('says so when nobody listens', async () => {
    const api = await server.start();
    await server.stop();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 5_000, signal }));
    expect(error.message).to.match(/^GET \/x: connect ECONNREFUSED/);
    await server.start();
  });

  for (const unread of [false, true])
    it(`takes an answer that breaks off for none${unread ? ', also when nobody reads it' : ''}`, async () => {
      server.lists.push(sayAndBreak('{"metadata":'));
      const api = await server.start();
      const request = { method: 'POST', path: '/x', body: {}, timeoutMs: 5_000, signal } as const;
      const error = await failure(api.request({ ...request, ...(unread && { unread }) }));
      expect(error).to.include({ status: 0, reaction: 'later' });
    });

  it('does not look into an answer that nobody reads, but is told a refusal', async () => {
    server.lists.push((response) => void response.end('created, and that is all'), refuse(409, 'there is one'));
    const api = await server.start();
    const request = { method: 'POST', path: '/x', body: {}, unread: true, timeoutMs: 5_000, signal } as const;
    expect(await api.request(request)).to.equal(undefined);
    expect(await failure(api.request(request))).to.include({ status: 409, message: 'POST /x: 409 there is one' });
  });

  it('finds an API that is served below a path', async () => {
    server.lists.push(list('10'));
    const api = await server.start('/clusters/c/');
    await api.request({ method: 'GET', path: '/api/v1/pods?limit=5', timeoutMs: 5_000, signal });
    expect(server.requests.map(({ pathname, search }) => pathname + search)).to.deep.equal([
      '/clusters/c/api/v1/pods?limit=5',
    ]);
  });

  it('sends the credentials and the body', async () => {
    const seen: http.IncomingHttpHeaders[] = [];
    const api = await server.start();
    server.lists.push((response) => {
      seen.push(response.req.headers);
      response.end('{"ok":true}');
    });
    const contentType = 'application/merge-patch+json';
    const body = { a: 'ä' };
    expect(
      await api.request({ method: 'PATCH', path: '/x', body, contentType, timeoutMs: 5_000, signal }),
    ).to.deep.equal({ ok: true });
    expect(seen[0]).to.include({ authorization: 'Bearer secret', 'content-type': contentType, 'content-length': '10' });
  });
});
