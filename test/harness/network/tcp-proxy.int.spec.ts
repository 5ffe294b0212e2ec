/** Tests each fault of the proxy with an echo server. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type TcpProxy, startTcpProxy } from './tcp-proxy.ts';
import { openRun, type Run } from '../run.ts';

/** Answers each chunk in upper case, and records it. */
async function startEcho(run: Run): Promise<{ endpoint: string; received: string[] }> {
  const received: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received.push(bytes.toString());
      socket.write(bytes.toString().toUpperCase());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  run.onEnd(() => void server.close());
  return { endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

const nextChunk = async (socket: Socket): Promise<string> => ((await once(socket, 'data')) as [Buffer])[0].toString();
const waitForClose = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));

describe('The TCP proxy', () => {
  let run: Run;
  let proxy: TcpProxy;
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let client: Socket;

  async function openConnection(): Promise<Socket> {
    const socket = connect(Number(proxy.endpoint.split(':')[1]), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }
  /** Sends one request and expects its reply. */
  async function expectEcho(): Promise<void> {
    const socket = await openConnection();
    socket.write('ping');
    expect(await nextChunk(socket)).to.equal('PING');
    socket.destroy();
  }

  beforeEach(async () => {
    run = openRun();
    echo = await startEcho(run);
    proxy = await startTcpProxy(run, echo.endpoint);
    client = await openConnection();
    client.write('hello');
    expect(await nextChunk(client)).to.equal('HELLO');
  });
  afterEach(async () => {
    client.destroy();
    await run.end();
  });

  it('The TCP proxy forwards all bytes without a fault', async () => {
    const long = 'x'.repeat(3_000_000);
    let length = 0;
    client.write(long);
    while (length < long.length) length += (await nextChunk(client)).length;
    expect(proxy.connections).to.equal(1);
  });

  it('The TCP proxy cuts connections on both sides, and accepts new connections', async () => {
    proxy.cut();
    await waitForClose(client);
    expect(proxy.connections).to.equal(0);
    await expectEcho();
  });

  it('The TCP proxy drops replies after the server received the request', async () => {
    proxy.dropBytes('replies');
    client.write('do it');
    while (proxy.droppedBytes < 5) await nextTurn();
    expect(echo.received).to.deep.equal(['hello', 'do it']);
    const ended = waitForClose(client);
    proxy.restore();
    await ended;
    await expectEcho();
  });

  it('The TCP proxy drops requests, so the server receives nothing', async () => {
    proxy.dropBytes('requests');
    client.write('do it');
    const other = await openConnection();
    other.write('nor this');
    while (proxy.droppedBytes < 13) await nextTurn();
    const ended = Promise.all([waitForClose(client), waitForClose(other)]);
    proxy.restore();
    await ended;
    expect(echo.received).to.deep.equal(['hello']);
    await expectEcho();
  });

  it('The TCP proxy delays requests until it is restored', async () => {
    proxy.delayBytes('requests');
    client.write('late');
    await sleep(20);
    expect(echo.received).to.deep.equal(['hello']);
    proxy.restore();
    expect(await nextChunk(client)).to.equal('LATE');
  });

  it('The TCP proxy refuses new connections and keeps open ones', async () => {
    proxy.refuse();
    const refused = connect(Number(proxy.endpoint.split(':')[1]), '127.0.0.1').on('error', () => undefined);
    await waitForClose(refused);
    client.write('still here');
    expect(await nextChunk(client)).to.equal('STILL HERE');
    proxy.restore();
    await expectEcho();
  });

  it('The TCP proxy connects to another server after setTarget, and ends the connections to the first', async () => {
    const other = await startEcho(run);
    const ended = waitForClose(client);
    proxy.setTarget(other.endpoint);
    await ended;
    await expectEcho();
    expect(other.received).to.deep.equal(['ping']);
  });

  it('The TCP proxy changes the requests of clients, and not the replies', async () => {
    proxy = await startTcpProxy(run, echo.endpoint, { change: (text) => text.replace('day', 'night') });
    const socket = await openConnection();
    socket.write('good day');
    expect(await nextChunk(socket)).to.equal('GOOD NIGHT');
    socket.destroy();
  });
});
