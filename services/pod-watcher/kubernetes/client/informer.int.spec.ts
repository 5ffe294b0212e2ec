import { expect } from 'chai';
import {
  brokenReply,
  completeReply,
  errorReply,
  listReply,
  openReply,
  type Reply,
  ScriptedApiServer,
} from '../../../../lib/kubernetes/client/testing/scripted-api-server.ts';
import { silentLogger, until } from '../../testing/fakes.ts';
import { type Pod, pods } from '../objects/pod.ts';
import { Informer, type ObjectChange } from '../../../../lib/kubernetes/client/informer.ts';

const rawPod = (name: string, version: string, uid = `uid-${name}`) => ({
  metadata: { name, namespace: 'default', uid, resourceVersion: version },
});
const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const bookmark = (version: string): string => event('BOOKMARK', { metadata: { resourceVersion: version } });
const timings = { firstBackoffMs: 1, maxBackoffMs: 5, silenceMs: 60_000, pageSize: 2 };

describe('Informer', () => {
  let server: ScriptedApiServer;
  let stop: AbortController;
  let running: Promise<void> | undefined;

  beforeEach(() => {
    server = new ScriptedApiServer();
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await running;
    await server.stop();
  });

  async function startInformer(more: object = {}): Promise<{ informer: Informer<Pod>; changes: string[] }> {
    const informer = new Informer(await server.start(), pods, silentLogger, { ...timings, ...more });
    const changes: string[] = [];
    informer.subscribe((change) => changes.push(describeChange(change)));
    running = informer.run(stop.signal);
    return { informer, changes };
  }

  function describeChange(change: ObjectChange<Pod>): string {
    if (change.kind === 'listed') return 'listed';
    const { name, uid } = change.object;
    if (change.kind === 'gone') return `gone ${name} ${uid} ${change.witnessed ? 'witnessed' : 'missing'}`;
    return `${change.before ? 'changed' : 'new'} ${name} ${uid}`;
  }

  it('Informer has no objects of a kind that may be missing, and lists them once the kind is installed', async () => {
    server.replies.push(errorReply(404, 'not found'), listReply('10', rawPod('a', '1')), openReply());
    const kind = { ...pods, mayBeMissing: true };
    const informer = new Informer(await server.start(), kind, silentLogger, { ...timings, missingKindMs: 1 });
    const changes: string[] = [];
    informer.subscribe((change) => changes.push(describeChange(change)));
    running = informer.run(stop.signal);
    await until(() => changes.length === 3);
    expect(changes).to.deep.equal(['listed', 'new a uid-a', 'listed']);
  });

  it('Informer lists in pages, then watches from the version of the list and requests bookmarks', async () => {
    const page: Reply = (response) =>
      void response.end(
        JSON.stringify({
          metadata: { resourceVersion: '10', continue: 'more' },
          items: [rawPod('a', '1'), rawPod('b', '2')],
        }),
      );
    server.replies.push(page, listReply('10', rawPod('c', '3')));
    server.watches.push(openReply(event('ADDED', rawPod('d', '11'))));
    const { informer, changes } = await startInformer();
    await until(() => changes.includes('new d uid-d'));
    expect(changes).to.deep.equal(['new a uid-a', 'new b uid-b', 'new c uid-c', 'listed', 'new d uid-d']);
    expect([...informer.objects.keys()]).to.deep.equal(['default/a', 'default/b', 'default/c', 'default/d']);
    const pages = server.requests.filter(({ searchParams }) => searchParams.has('limit'));
    expect(pages.map(({ searchParams }) => searchParams.get('continue') ?? '')).to.deep.equal(['', 'more']);
    expect(pages[0]?.searchParams.get('limit')).to.equal('2');
    const [watch] = server.watchQueries;
    expect(watch?.get('resourceVersion')).to.equal('10');
    expect(watch?.get('allowWatchBookmarks')).to.equal('true');
    expect(Number(watch?.get('timeoutSeconds'))).to.be.within(270, 330);
    expect(informer.hasSynced).to.equal(true);
    expect(informer.silentMs).to.be.within(0, informer.maxSilentMs);
    expect(informer.maxSilentMs).to.equal(60_000);
  });

  it('Informer reports additions, changes and deletions once each', async () => {
    server.replies.push(listReply('10', rawPod('a', '1')));
    server.watches.push(
      openReply(
        event('MODIFIED', rawPod('a', '1')),
        event('MODIFIED', rawPod('a', '11')),
        event('DELETED', rawPod('a', '12')),
        event('DELETED', rawPod('a', '12')),
        event('ADDED', rawPod('a', '13', 'second')),
      ),
    );
    const { changes } = await startInformer();
    await until(() => changes.includes('new a second'));
    expect(changes).to.deep.equal([
      'new a uid-a',
      'listed',
      'changed a uid-a',
      'gone a uid-a witnessed',
      'new a second',
    ]);
  });

  for (const [what, broken] of [
    ['the server ends the watch', completeReply(event('ADDED', rawPod('b', '11')))],
    ['the connection breaks', brokenReply(event('ADDED', rawPod('b', '11')))],
    [
      'the server sends an ERROR event',
      completeReply(event('ADDED', rawPod('b', '11')), event('ERROR', { code: 500, message: 'etcd is away' })),
    ],
    ['a line is incomplete', completeReply(event('ADDED', rawPod('b', '11')), '{"type":"ADD')],
    ['a line is not JSON', completeReply(event('ADDED', rawPod('b', '11')), 'not json\n')],
  ] as const)
    it(`Informer continues from the last event when ${what}`, async () => {
      server.replies.push(listReply('10', rawPod('a', '1')));
      server.watches.push(broken, openReply(event('ADDED', rawPod('c', '12'))));
      const { changes } = await startInformer();
      await until(() => changes.includes('new c uid-c'));
      expect(changes).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b', 'new c uid-c']);
      expect(server.listCount).to.equal(1);
      expect(server.watchQueries.map((query) => query.get('resourceVersion'))).to.deep.equal(['10', '11']);
    });

  it('Informer continues from the last bookmark', async () => {
    server.replies.push(listReply('10'));
    server.watches.push(completeReply(bookmark('500')), openReply());
    await startInformer();
    await until(() => server.watchQueries.length === 2);
    expect(server.watchQueries[1]?.get('resourceVersion')).to.equal('500');
  });

  it('Informer retries while the server replies 500 or 429, or resets the connection', async () => {
    server.replies.push(
      errorReply(500, 'no'),
      errorReply(429, 'storage is (re)initializing'),
      listReply('10', rawPod('a', '1')),
    );
    server.watches.push(
      errorReply(500, 'no'),
      (response) => void response.socket?.resetAndDestroy(),
      openReply(event('ADDED', rawPod('b', '11'))),
    );
    const { changes } = await startInformer();
    await until(() => changes.includes('new b uid-b'));
    expect(changes).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b']);
    expect(server.watchQueries.map((query) => query.get('resourceVersion'))).to.deep.equal(['10', '10', '10']);
  });

  for (const [what, tooOld] of [
    ['by a response', errorReply(410, 'too old resource version')],
    ['by an event', completeReply(event('ERROR', { code: 410, message: 'too old resource version' }))],
  ] as const)
    it(`Informer lists again and reports the differences by uid when the server reports ${what} that its version is too old`, async () => {
      server.replies.push(
        listReply(
          '10',
          rawPod('stays', '1'),
          rawPod('goes', '2'),
          rawPod('again', '3', 'first'),
          rawPod('changes', '4'),
        ),
        listReply(
          '20',
          rawPod('stays', '1'),
          rawPod('again', '15', 'second'),
          rawPod('changes', '16'),
          rawPod('comes', '17'),
        ),
      );
      server.watches.push(tooOld, openReply());
      server.version = '19';
      const { informer, changes } = await startInformer();
      await until(() => changes.filter((each) => each === 'listed').length === 2);
      expect(changes.slice(5)).to.deep.equal([
        'new comes uid-comes',
        'gone goes uid-goes missing',
        'gone again first witnessed',
        'new again second',
        'changed changes uid-changes',
        'listed',
      ]);
      expect(informer.objects.get('default/again')?.uid).to.equal('second');
      expect([informer.versionBeforeList, informer.resourceVersion]).to.deep.equal(['10', '19']);
      expect(server.watchQueries.at(-1)?.get('resourceVersion')).to.equal('19');
    });

  describe('while it lists again', () => {
    let sendList: () => void;
    /**
     * Starts an informer whose first list has Pods "a" and "b". The second list has the Pods
     * `listed`, and is not sent before `sendList`.
     */
    async function startSecondList(listed: readonly object[], ...events: string[]) {
      const second: Reply = (response, url) => (sendList = () => listReply('20', ...listed)(response, url));
      server.replies.push(listReply('10', rawPod('a', '1'), rawPod('b', '2')), second);
      server.watches.push(errorReply(410, 'too old resource version'), openReply(...events));
      server.version = '18';
      const { informer, changes } = await startInformer();
      await until(() => changes.length > 3 && server.listCount === 2);
      return { informer, changes: () => changes.slice(3) };
    }
    const untilListed = (changes: () => string[]): Promise<void> => until(() => changes().includes('listed'));

    it('an informer that lists again reports new objects of the watch at once, with their changes and deletions', async () => {
      const { informer, changes } = await startSecondList(
        [rawPod('a', '1'), rawPod('b', '2'), rawPod('c', '19'), rawPod('d', '20')],
        event('ADDED', rawPod('c', '19')),
        event('ADDED', rawPod('d', '20')),
        event('DELETED', rawPod('d', '21')),
        event('MODIFIED', rawPod('c', '22')),
      );
      await until(() => changes().length === 4);
      const reported = ['new c uid-c', 'new d uid-d', 'gone d uid-d witnessed', 'changed c uid-c'];
      expect(changes()).to.deep.equal(reported);
      expect(informer.resourceVersion).to.equal(undefined);
      sendList();
      await untilListed(changes);
      expect(changes()).to.deep.equal([...reported, 'listed']);
      expect(informer.resourceVersion).to.equal('22');
    });

    it('an informer that lists again reports losses, replacements and changes of known objects together, when the list is complete', async () => {
      const { changes } = await startSecondList(
        [rawPod('a', '15', 'other')],
        event('ADDED', rawPod('new', '19')),
        event('MODIFIED', rawPod('a', '19', 'other')),
      );
      await until(() => changes().length === 1);
      sendList();
      await untilListed(changes);
      expect(changes().slice(1)).to.deep.equal([
        'gone b uid-b missing',
        'gone a uid-a witnessed',
        'new a other',
        'listed',
      ]);
    });

    it('an informer that lists again trusts the watch where the list has an earlier state', async () => {
      const { informer, changes } = await startSecondList(
        [rawPod('a', '18'), rawPod('b', '18')],
        event('DELETED', rawPod('a', '19')),
        event('MODIFIED', rawPod('b', '20')),
        event('ADDED', rawPod('new', '21')),
      );
      await until(() => changes().length === 1);
      sendList();
      await untilListed(changes);
      expect(changes().slice(1)).to.deep.equal(['gone a uid-a witnessed', 'changed b uid-b', 'listed']);
      expect(informer.objects.get('default/b')?.resourceVersion).to.equal('20');
    });

    it('an informer that lists again starts over when the watch cannot continue either, and forgets the unfinished list', async () => {
      const unfinished: Reply = () => undefined;
      server.replies.push(listReply('10', rawPod('a', '1')), unfinished, listReply('30', rawPod('a', '25')));
      const tooOld = errorReply(410, 'too old resource version');
      server.watches.push(tooOld, tooOld, openReply());
      server.version = '18';
      const { informer, changes } = await startInformer();
      await until(() => changes.length === 4);
      expect(changes.slice(2)).to.deep.equal(['changed a uid-a', 'listed']);
      expect(informer.versionBeforeList).to.equal('10');
    });
  });

  describe('with an API server that lists as streams', () => {
    const streamed = (...names: string[]): string[] => names.map((name) => event('ADDED', rawPod(name, '1')));
    const end = event('BOOKMARK', {
      metadata: { resourceVersion: '10', annotations: { 'k8s.io/initial-events-end': 'true' } },
    });

    it('an informer reads the first events of a watch up to their end, and requests no page, if the API server lists as streams', async () => {
      server.streams.push(openReply(...streamed('a', 'b'), bookmark('5'), end));
      server.watches.push(openReply(event('ADDED', rawPod('c', '11'))));
      const { changes } = await startInformer();
      await until(() => changes.includes('new c uid-c'));
      expect(changes).to.deep.equal(['new a uid-a', 'new b uid-b', 'listed', 'new c uid-c']);
      expect(server.listCount).to.equal(0);
      expect(Object.fromEntries(server.requests[0]?.searchParams ?? [])).to.include({
        watch: 'true',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: 'true',
      });
      expect(server.watchQueries.map((query) => query.get('resourceVersion'))).to.deep.equal(['10']);
    });

    for (const [what, broken] of [
      ['ends before the list', completeReply(...streamed('a'))],
      ['breaks', brokenReply(...streamed('a'))],
    ] as const)
      it(`an informer reads pages when a stream ${what}`, async () => {
        server.streams.push(broken);
        server.replies.push(listReply('10', rawPod('b', '1')));
        server.watches.push(openReply());
        const { informer, changes } = await startInformer();
        await until(() => changes.includes('listed'));
        expect([...informer.objects.keys()]).to.deep.equal(['default/b']);
        expect(changes).to.deep.equal(['new a uid-a', 'new b uid-b', 'gone a uid-a missing', 'listed']);
      });
  });

  it('Informer lists again after a rollback of the server to an earlier state', async () => {
    server.replies.push(
      listReply('20', rawPod('stays', '1'), rawPod('lost', '15')),
      listReply('12', rawPod('stays', '1')),
    );
    server.watches.push(brokenReply(bookmark('30')), openReply());
    server.version = '12';
    const { informer, changes } = await startInformer();
    await until(() => changes.length === 5);
    expect([informer.versionBeforeList, informer.resourceVersion]).to.deep.equal(['30', '12']);
    expect(changes.slice(3)).to.deep.equal(['gone lost uid-lost missing', 'listed']);
    expect(server.watchQueries.map((query) => query.get('resourceVersion'))).to.deep.equal(['20', '12']);
  });

  for (const [what, answer] of [
    ['no items', { metadata: { resourceVersion: '20' } }],
    ['no version', { metadata: {}, items: [] }],
    ['an empty body', undefined],
  ] as const)
    it(`Informer reports no deletion after a list response with ${what}`, async () => {
      const invalid: Reply = (response) => void response.end(JSON.stringify(answer));
      server.replies.push(
        listReply('10', rawPod('a', '1')),
        invalid,
        listReply('20', rawPod('a', '1'), rawPod('b', '2')),
      );
      server.watches.push(errorReply(410, 'too old resource version'), openReply());
      const { changes } = await startInformer();
      await until(() => changes.includes('new b uid-b'));
      expect(changes).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b', 'listed']);
    });

  it('Informer restarts a list when its continue token has expired', async () => {
    const page: Reply = (response) =>
      void response.end(
        JSON.stringify({ metadata: { resourceVersion: '10', continue: 'more' }, items: [rawPod('a', '1')] }),
      );
    server.replies.push(
      page,
      errorReply(410, 'the provided continue parameter is too old'),
      listReply('20', rawPod('b', '2')),
    );
    server.watches.push(openReply());
    const { changes } = await startInformer();
    await until(() => changes.includes('listed'));
    expect(changes).to.deep.equal(['new a uid-a', 'new b uid-b', 'gone a uid-a missing', 'listed']);
  });

  it('Informer restarts a watch without data', async () => {
    server.replies.push(listReply('10'));
    server.watches.push((response) => response.flushHeaders(), openReply(event('ADDED', rawPod('a', '11'))));
    const { changes } = await startInformer({ silenceMs: 50 });
    await until(() => changes.includes('new a uid-a'));
  });

  it('Informer lists again after an interruption in which the server may have been rolled back and changed since', async () => {
    server.replies.push(listReply('10', rawPod('a', '1')), listReply('1000000', rawPod('b', '2')));
    server.watches.push((response) => response.flushHeaders(), openReply());
    const { changes } = await startInformer({ silenceMs: 20 });
    await until(() => changes.length >= 5);
    const expected = ['new a uid-a', 'listed', 'new b uid-b', 'gone a uid-a missing', 'listed'];
    expect(changes.slice(0, 5)).to.deep.equal(expected);
  });

  it('Informer has no object of a name between the end of its first object and the report of its second', async () => {
    server.replies.push(listReply('10', rawPod('a', '1', 'first')));
    server.watches.push(openReply(event('ADDED', rawPod('a', '11', 'second'))));
    const informer = new Informer(await server.start(), pods, silentLogger, timings);
    const present: string[] = [];
    informer.subscribe(({ kind }) => present.push(`${kind} ${informer.objects.get('default/a')?.uid ?? 'none'}`));
    running = informer.run(stop.signal);
    await until(() => present.length === 4);
    expect(present).to.deep.equal(['present first', 'listed first', 'gone none', 'present second']);
  });

  it('Informer leaves out invalid objects, and continues when a listener throws', async () => {
    server.replies.push(listReply('10', { metadata: {} }, rawPod('a', '1')));
    server.watches.push(
      openReply(event('ADDED', { metadata: {} }), event('SOMETHING', {}), event('ADDED', rawPod('b', '11'))),
    );
    const informer = new Informer(await server.start(), pods, silentLogger, timings);
    const changes: string[] = [];
    informer.subscribe(() => {
      throw new Error('a bug');
    });
    informer.subscribe((change) => changes.push(describeChange(change)));
    running = informer.run(stop.signal);
    await until(() => changes.includes('new b uid-b'));
    expect(changes).to.deep.equal(['new a uid-a', 'listed', 'new b uid-b']);
  });

  it('Informer ends without an error when it is aborted', async () => {
    server.replies.push(listReply('10'));
    server.watches.push(openReply());
    const { changes } = await startInformer();
    await until(() => changes.includes('listed'));
    stop.abort();
    await running;
  });
});
