import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ApiError } from './api-error.ts';
import { connectApi, connectDefaultApi } from './kubernetes-api.ts';
import { brokenReply, errorReply, kubeConfigFor, listReply, ScriptedApiServer } from './testing/scripted-api-server.ts';

describe('A request to the API server', () => {
  let server: ScriptedApiServer;
  beforeEach(() => (server = new ScriptedApiServer()));
  afterEach(() => server.stop());

  const { signal } = new AbortController();
  const failure = async (promise: Promise<unknown>): Promise<ApiError> =>
    promise.then(
      () => expect.fail('no error'),
      (error: unknown) => error as ApiError,
    );

  it('A request to the API server fails with the request and the response in one message', async () => {
    server.replies.push(errorReply(422, 'Pod "a" is invalid'));
    const api = await server.start();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 5_000, signal }));
    expect(error.message).to.equal('GET /x: 422 Pod "a" is invalid');
    expect(error).to.include({ status: 422, field: '', reaction: 'invalid' });
  });

  it('A request to the API server fails with the text of a response that is no Status object', async () => {
    server.replies.push((response) => void response.writeHead(502).end('<html>bad gateway</html>'));
    const api = await server.start();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 5_000, signal }));
    expect(error).to.include({ status: 502, reaction: 'later', message: 'GET /x: 502 <html>bad gateway</html>' });
  });

  it('A request to the API server times out without a response, and reports the timeout', async () => {
    server.replies.push(() => undefined);
    const api = await server.start();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 20, signal }));
    expect(error).to.include({ status: 0, reaction: 'later', message: 'GET /x: no response within 20 ms' });
  });

  it('A request to the API server times out when an exec plugin returns no credentials', async () => {
    const config = kubeConfigFor('http://127.0.0.1:1');
    config.applyToHTTPSOptions = () => new Promise(() => undefined);
    const api = connectApi(config);
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 20, signal }));
    expect(error).to.include({ status: 0, message: 'GET /x: no response within 20 ms' });
  });

  it('A request to the API server fails when the server refuses the connection', async () => {
    const api = await server.start();
    await server.stop();
    const error = await failure(api.request({ method: 'GET', path: '/x', timeoutMs: 5_000, signal }));
    expect(error.message).to.match(/^GET \/x: connect ECONNREFUSED/);
    await server.start();
  });

  for (const discardBody of [false, true])
    it(`A request to the API server fails when the connection breaks within the response${discardBody ? ', also with discardBody' : ''}`, async () => {
      server.replies.push(brokenReply('{"metadata":'));
      const api = await server.start();
      const request = { method: 'POST', path: '/x', body: {}, timeoutMs: 5_000, signal } as const;
      const error = await failure(api.request({ ...request, ...(discardBody && { discardBody }) }));
      expect(error).to.include({ status: 0, reaction: 'later' });
    });

  it('a request to the API server with discardBody does not parse the response, and still reports an error', async () => {
    server.replies.push((response) => void response.end('created, and that is all'), errorReply(409, 'there is one'));
    const api = await server.start();
    const request = { method: 'POST', path: '/x', body: {}, discardBody: true, timeoutMs: 5_000, signal } as const;
    expect(await api.request(request)).to.equal(undefined);
    expect(await failure(api.request(request))).to.include({ status: 409, message: 'POST /x: 409 there is one' });
  });

  it('A request to the API server accepts a compressed response, and limits it without its compression', async () => {
    const headers: IncomingHttpHeaders[] = [];
    server.replies.push((response) => {
      headers.push(response.req.headers);
      response.setHeader('content-encoding', 'gzip').end(gzipSync(JSON.stringify({ text: 'x'.repeat(10_000) })));
    });
    const api = await server.start();
    const request = { method: 'GET', path: '/x', compressed: true, timeoutMs: 5_000, signal } as const;
    expect(await api.request(request))
      .to.have.property('text')
      .with.lengthOf(10_000);
    expect(headers[0]?.['accept-encoding']).to.equal('gzip');
    expect((await failure(api.request({ ...request, maxBytes: 9_000 }))).isTooLarge).to.equal(true);
  });

  it('A request to the API server fails when a compressed response is truncated', async () => {
    const whole = gzipSync(JSON.stringify({ text: 'x'.repeat(10_000) }));
    server.replies.push((response) => void response.setHeader('content-encoding', 'gzip').end(whole.subarray(0, 20)));
    const api = await server.start();
    const error = await failure(api.request({ method: 'GET', path: '/x', compressed: true, timeoutMs: 5_000, signal }));
    expect(error).to.include({ status: 0, reaction: 'later' });
  });

  it('A request to the API server keeps the base path of the server URL', async () => {
    server.replies.push(listReply('10'));
    const api = await server.start('/clusters/c/');
    await api.request({ method: 'GET', path: '/api/v1/pods?limit=5', timeoutMs: 5_000, signal });
    expect(server.requests.map(({ pathname, search }) => pathname + search)).to.deep.equal([
      '/clusters/c/api/v1/pods?limit=5',
    ]);
  });

  it('A request to the API server sends the credentials and the body', async () => {
    const headers: IncomingHttpHeaders[] = [];
    const api = await server.start();
    server.replies.push((response) => {
      headers.push(response.req.headers);
      response.end('{"ok":true}');
    });
    const contentType = 'application/merge-patch+json';
    const body = { a: 'ä' };
    expect(
      await api.request({ method: 'PATCH', path: '/x', body, contentType, timeoutMs: 5_000, signal }),
    ).to.deep.equal({ ok: true });
    expect(headers[0]).to.include({
      authorization: 'Bearer secret',
      'content-type': contentType,
      'content-length': '10',
    });
  });

  it('A request to the API server fails when the response exceeds the size limit of the request', async () => {
    server.replies.push((response) => void response.end(`"${'x'.repeat(100)}"`));
    const api = await server.start();
    const request = { method: 'GET', path: '/x', timeoutMs: 5_000, signal } as const;
    expect(await api.request({ ...request, maxBytes: 102 })).to.have.length(100);
    const error = await failure(api.request({ ...request, maxBytes: 101 }));
    expect(error).to.include({ status: 0, isTooLarge: true, reason: 'the response is larger than 101 bytes' });
  });
});

describe('The connection to the default cluster', () => {
  const before = process.env['KUBECONFIG'];
  const { signal } = new AbortController();
  let folder: string;
  let kubeconfigFile: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-kubeconfig-'));
    process.env['KUBECONFIG'] = kubeconfigFile = join(folder, 'kubeconfig');
  });

  afterEach(() => {
    if (before === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = before;
    rmSync(folder, { recursive: true, force: true });
  });

  const writeKubeconfig = (server: string, user: object): void =>
    writeFileSync(
      kubeconfigFile,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );

  it('The connection to the default cluster uses the server and the token of KUBECONFIG', async () => {
    const server = new ScriptedApiServer();
    const headers: IncomingHttpHeaders[] = [];
    server.replies.push((response) => {
      headers.push(response.req.headers);
      response.writeHead(203).end('{"ok":true}');
    });
    await server.start();
    try {
      writeKubeconfig(`${server.url}/below/`, { token: 'secret' });
      const api = await connectDefaultApi();
      const reply = await api.request({ method: 'GET', path: '/api/v1/x', timeoutMs: 5_000, signal });
      expect(reply).to.deep.equal({ ok: true });
      expect(server.requests.map(({ pathname }) => pathname)).to.deep.equal(['/below/api/v1/x']);
      expect(headers[0]).to.include({ authorization: 'Bearer secret' });
    } finally {
      await server.stop();
    }
  });

  it('The connection to the default cluster ends a request when its caller aborts it while an exec plugin runs', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sleep', args: ['1'] };
    writeKubeconfig('http://127.0.0.1:1', { exec });
    const caller = AbortSignal.timeout(20);
    const api = await connectDefaultApi();
    const reply = api.request({ method: 'GET', path: '/', timeoutMs: 60_000, signal: caller });
    await reply.then(
      () => expect.fail('no error'),
      () => expect(caller.aborted).to.equal(true),
    );
  });

  it('The connection to the default cluster fails when the file cannot be read, or names no cluster', async () => {
    const missing: unknown = await connectDefaultApi().catch((error: unknown) => error);
    expect(missing).to.have.property('message').that.contains(`KUBECONFIG cannot be read`).and.contains(folder);
    writeFileSync(
      kubeconfigFile,
      JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [], users: [] }),
    );
    const empty: unknown = await connectDefaultApi().catch((error: unknown) => error);
    expect(empty).to.have.property('message').that.contains('the kubeconfig names no cluster');
  });
});
