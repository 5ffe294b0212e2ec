import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Proxy, startProxy } from './proxy.ts';
import { openRun, type Run } from './run.ts';

/** Says back what it is told, in capitals; keeps what it heard. */
async function startEcho(run: Run): Promise<{ endpoint: string; heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      heard.push(bytes.toString());
      socket.write(bytes.toString().toUpperCase());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  run.onEnd(() => void server.close());
  return { endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const said = async (socket: Socket): Promise<string> => ((await once(socket, 'data')) as [Buffer])[0].toString();
const gone = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));

describe('a bad network', () => {
  let run: Run;
  let proxy: Proxy;
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let client: Socket;

  async function enter(): Promise<Socket> {
    const socket = connect(Number(proxy.endpoint.split(':')[1]), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }
  /** One word there and back. */
  async function works(): Promise<void> {
    const socket = await enter();
    socket.write('ping');
    expect(await said(socket)).to.equal('PING');
    socket.destroy();
  }

  beforeEach(async () => {
    run = openRun();
    echo = await startEcho(run);
    proxy = await startProxy(run, echo.endpoint);
    client = await enter();
    client.write('hello');
    expect(await said(client)).to.equal('HELLO');
  });
  afterEach(async () => {
    client.destroy();
    await run.end();
  });

  it('passes everything on while all is well', async () => {
    const long = 'x'.repeat(3_000_000);
    let length = 0;
    client.write(long);
    while (length < long.length) length += (await said(client)).length;
    expect(proxy.connections).to.equal(1);
  });

  it('cuts connections on both sides, and makes new ones', async () => {
    proxy.cut();
    await gone(client);
    expect(proxy.connections).to.equal(0);
    await works();
  });

  it('swallows replies: the request happens, and nobody is told', async () => {
    proxy.swallow('replies');
    client.write('do it');
    while (proxy.swallowedBytes < 5) await turn();
    expect(echo.heard).to.deep.equal(['hello', 'do it']);
    const ended = gone(client);
    proxy.mend();
    await ended;
    await works();
  });

  it('swallows requests: nothing happens', async () => {
    proxy.swallow('requests');
    client.write('do it');
    const other = await enter();
    other.write('nor this');
    while (proxy.swallowedBytes < 13) await turn();
    const ended = Promise.all([gone(client), gone(other)]);
    proxy.mend();
    await ended;
    expect(echo.heard).to.deep.equal(['hello']);
    await works();
  });

  it('holds requests up, and delivers them late', async () => {
    proxy.hold('requests');
    client.write('late');
    await sleep(20);
    expect(echo.heard).to.deep.equal(['hello']);
    proxy.mend();
    expect(await said(client)).to.equal('LATE');
  });

  it('refuses newcomers only', async () => {
    proxy.refuse();
    const newcomer = connect(Number(proxy.endpoint.split(':')[1]), '127.0.0.1').on('error', () => undefined);
    await gone(newcomer);
    client.write('still here');
    expect(await said(client)).to.equal('STILL HERE');
    proxy.mend();
    await works();
  });
});
