import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { type DaemonServer, createDaemonServer, type RequestHandler } from './daemon-server.ts';
import { publishSocket } from './unix-socket.ts';

const body = JSON.stringify({
  pod_name: 'p',
  pod_namespace: 'default',
  container_id: 'c1',
  if_name: 'net1',
  provider: 'a.b',
});
const json = { 'content-type': 'application/json', accept: 'application/json' };

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

describe('Daemon server', () => {
  let folder: string;
  let socketPath: string;
  let daemon: DaemonServer;
  let handleRequest: RequestHandler;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-daemon-'));
    socketPath = join(folder, 's');
    handleRequest = ({ verb }) => Promise.resolve(verb === 'add' ? '{"ips":[]}' : '');
    daemon = createDaemonServer((...args) => handleRequest(...args), pino({ level: 'silent' }));
    await publishSocket(daemon.server, socketPath);
  });

  afterEach(async () => {
    await daemon.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function send(
    sent: Sent = {},
  ): Promise<{ status: number | undefined; type: string | undefined; body: string }> {
    const { path = '/api/v1/add', method = 'POST', headers = json } = sent;
    const client = request({ socketPath, path, method, headers, agent: false });
    client.end(sent.body ?? body);
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
    return { status: response.statusCode, type: response.headers['content-type'], body: text };
  }

  const errorOf = ({ body: text }: { body: string }): string => (JSON.parse(text) as { error: string }).error;

  it('Daemon server responds to ADD with 200 and JSON, to DEL with 204 and no body', async () => {
    expect(await send()).to.deep.equal({ status: 200, type: 'application/json', body: '{"ips":[]}' });
    expect(await send({ path: '/api/v1/del' })).to.deep.equal({ status: 204, type: undefined, body: '' });
  });

  it('Daemon server passes the parsed request to its handler', async () => {
    const handled: unknown[] = [];
    handleRequest = (pluginRequest) => {
      handled.push(pluginRequest);
      return Promise.resolve('{}');
    };
    await send();
    expect(handled).to.have.length(1);
    expect(handled[0]).to.have.property('verb', 'add');
    expect(handled[0]).to.have.property('request').that.includes({ podName: 'p', interface: 'net1' });
  });

  it('Daemon server accepts JSON only, with any media type parameters', async () => {
    expect((await send({ headers: { ...json, 'content-type': 'text/plain' } })).status).to.equal(415);
    expect((await send({ headers: { accept: 'application/json' } })).status).to.equal(415);
    expect((await send({ headers: { ...json, accept: 'text/html, application/xml' } })).status).to.equal(406);
    expect((await send({ headers: { 'content-type': 'Application/JSON; charset=utf-8' } })).status).to.equal(200);
    expect((await send({ headers: { ...json, accept: 'text/html, */*;q=0.1' } })).status).to.equal(200);
  });

  it('Daemon server responds to CHECK, GC and STATUS with 204 and no body', async () => {
    const bodies = {
      check: JSON.stringify({ ...(JSON.parse(body) as object), addresses: ['172.17.0.11/16'] }),
      gc: JSON.stringify({ provider: 'a.b', attachments: [{ container_id: 'c1', if_name: 'net1' }] }),
      status: '{}',
    };
    for (const [verb, verbBody] of Object.entries(bodies))
      expect(await send({ path: `/api/v1/${verb}`, body: verbBody }), verb).to.include({ status: 204, body: '' });
    const incomplete = await send({ path: '/api/v1/gc', body: '{"provider":"a.b"}' });
    expect(incomplete.status).to.equal(400);
    expect(errorOf(incomplete)).to.match(/^parse gc request failed: attachments: /);
  });

  it('Daemon server rejects other paths, and methods other than POST', async () => {
    expect((await send({ path: '/api/v1/version' })).status).to.equal(404);
    expect((await send({ method: 'PUT' })).status).to.equal(405);
  });

  it('Daemon server reports what is wrong with a body', async () => {
    const empty = await send({ path: '/api/v1/del', body: '' });
    expect(empty.status).to.equal(400);
    expect(errorOf(empty)).to.equal('parse del request failed: the body is empty');
    const broken = await send({ body: '{' });
    expect(broken.status).to.equal(400);
    expect(errorOf(broken)).to.match(/^parse add request failed: /);
  });

  it('Daemon server rejects a body of more than 64 KiB, of more than 2 MiB for a GC', async () => {
    const padded = (size: number, of = body): string => of.padEnd(size, ' ');
    const list = '{"provider":"a.b","attachments":[]}';
    expect((await send({ body: padded(64 << 10) })).status).to.equal(200);
    expect((await send({ path: '/api/v1/gc', body: padded(2 << 20, list) })).status).to.equal(204);
    for (const [path, size, of] of [
      ['/api/v1/add', 64 << 10, body],
      ['/api/v1/del', 64 << 10, body],
      ['/api/v1/check', 64 << 10, body],
      ['/api/v1/status', 64 << 10, '{}'],
      ['/api/v1/gc', 2 << 20, list],
    ] as const)
      for (const headers of [json, { ...json, 'transfer-encoding': 'chunked' }]) {
        const large = await send({ path, headers, body: padded(size + 1, of) });
        expect(large.status, path).to.equal(400);
        expect(errorOf(large)).to.contain(`the body is larger than ${size} bytes`);
      }
  });

  it('Daemon server rejects headers of more than 8 KiB', async () => {
    expect((await send({ headers: { ...json, more: 'x'.repeat(9 << 10) } })).status).to.equal(431);
    expect((await send({ path: `/api/v1/add?${'x'.repeat(9 << 10)}` })).status).to.equal(431);
  });

  it('Daemon server rejects no request of a client that waited while the agent was busy for seconds', () => {
    // Node.js counts the time in which the process is busy as the client's. The first ADD loads the
    // Kubernetes client, and other requests wait for it.
    expect(daemon.server.headersTimeout).to.be.at.least(20_000);
    expect(daemon.server.requestTimeout).to.be.at.least(20_000);
  });

  it('Daemon server ends a request at the deadline of its verb', async () => {
    const oneMillisecondDaemon = createDaemonServer(
      async (_pluginRequest, signal) => {
        await once(signal, 'abort');
        throw signal.reason as Error;
      },
      pino({ level: 'silent' }),
      { add: 1, del: 1, check: 1, gc: 1, status: 1 },
    );
    socketPath = join(folder, 'short');
    await publishSocket(oneMillisecondDaemon.server, socketPath);
    const response = await send();
    await oneMillisecondDaemon.close();
    expect(response.status).to.equal(500);
    expect(errorOf(response)).to.equal('add timed out after 1 ms: try again');
  });

  it('Daemon server responds with the status and the message of an error', async () => {
    handleRequest = () =>
      Promise.reject(new IpledgerError('PROVIDER_UNBOUND', 'provider a.b is not bound to any subnet'));
    const response = await send();
    expect(response).to.include({ status: 400, type: 'application/json' });
    expect(errorOf(response)).to.equal('provider a.b is not bound to any subnet');
    handleRequest = () => Promise.reject(new TypeError('ours'));
    expect(await send({ path: '/api/v1/del' })).to.include({ status: 500 });
  });

  it('Daemon server accepts HTTP/1.0', async () => {
    const client = connect(socketPath);
    client.end(
      `POST /api/v1/add HTTP/1.0\r\nHost: dummy\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let text = '';
    for await (const chunk of client.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
    expect(text)
      .to.match(/^HTTP\/1\.1 200 OK\r\n/)
      .and.match(/\r\n\r\n\{"ips":\[\]\}$/);
  });

  it('Daemon server aborts the handler’s signal when the caller disconnects', async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    handleRequest = async (_pluginRequest, signal) => {
      begin();
      await once(signal, 'abort');
      resolve();
      throw new IpledgerError('CANCELLED', 'disconnected');
    };
    const client = request({ socketPath, path: '/api/v1/add', method: 'POST', headers: json, agent: false });
    client.on('error', () => undefined);
    client.end(body);
    await begun;
    client.destroy();
    await aborted;
  });

  it('Daemon server does not abort the handler’s signal of a request that it has answered', async () => {
    const signals: AbortSignal[] = [];
    const connections: Socket[] = [];
    daemon.server.on('connection', (connection) => connections.push(connection));
    handleRequest = (_pluginRequest, signal) => Promise.resolve(String(signals.push(signal)));
    await send();
    await Promise.all(connections.filter((each) => !each.closed).map((each) => once(each, 'close')));
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
  });

  it('Daemon server responds with "try again" to waiting requests when it stops', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    handleRequest = async (_pluginRequest, signal) => {
      begin();
      await once(signal, 'abort');
      throw new IpledgerError('CANCELLED', 'stopped');
    };
    const waiting = send();
    await begun;
    await daemon.close();
    const response = await waiting;
    expect(response.status).to.equal(503);
    expect(errorOf(response)).to.equal('the node agent is being stopped: try again');
  });
});
