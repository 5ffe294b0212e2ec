import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { closeConsoleServer, createConsoleServer, listenOn, type ServerLimits } from './console-server.ts';

const generous: ServerLimits = { maxConnections: 100, clientRate: { perSecond: 1_000, burst: 1_000 } };

async function withServer(
  limits: Partial<ServerLimits>,
  use: (address: string, statuses: number[]) => Promise<void>,
): Promise<void> {
  const statuses: number[] = [];
  const server = createConsoleServer({
    handle: async (_request, response, url) => {
      if (url.pathname === '/bug') throw new Error('a secret of the program');
      response.end('ok');
    },
    tls: undefined,
    log: pino({ level: 'silent' }),
    onRequest: (status) => void statuses.push(status),
    limits: { ...generous, ...limits },
  });
  const address = await listenOn(server, '127.0.0.1:0');
  try {
    await use(address, statuses);
  } finally {
    await closeConsoleServer(server);
  }
}

async function read(address: string, path: string): Promise<{ status: number; text: string }> {
  const [response] = (await once(get(`http://${address}${path}`, { agent: false }), 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, text };
}

/** Returns the status line of the reply to bytes that no browser sends. */
async function sendBytes(address: string, bytes: string): Promise<string> {
  const socket = open(address);
  socket.write(bytes);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return String(reply).split('\r\n')[0] ?? '';
}

function open(address: string): Socket {
  const [host, port] = address.split(':');
  return connect(Number(port), host).on('error', () => undefined);
}

describe('The HTTP server of the console', () => {
  it('The HTTP server of the console closes the oldest connection beyond its limit, and serves the new one', () =>
    withServer({ maxConnections: 3 }, async (address) => {
      const first = open(address);
      await once(first, 'connect');
      const closed = once(first, 'close');
      for (let count = 0; count < 3; count++) await once(open(address), 'connect');
      await closed;
      expect((await read(address, '/')).status).to.equal(200);
    }));

  it('The HTTP server of the console rejects a client that sends more than its rate, before any work, and counts it', () =>
    withServer({ clientRate: { perSecond: 0.001, burst: 2 } }, async (address, statuses) => {
      const replies = [];
      for (let count = 0; count < 4; count++) replies.push((await read(address, '/')).status);
      expect(replies).to.deep.equal([200, 200, 429, 429]);
      expect(statuses).to.deep.equal(replies);
    }));

  it('The HTTP server of the console rejects URLs that are not paths, and bytes that are not HTTP', () =>
    withServer({}, async (address) => {
      const status = (target: string) => sendBytes(address, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      for (const target of ['http://attacker.example/', '//attacker.example/', '*'])
        expect(await status(target), target).to.equal('HTTP/1.1 400 Bad Request');
      expect(await status('/')).to.equal('HTTP/1.1 200 OK');
      expect(await sendBytes(address, 'nonsense\r\n\r\n')).to.equal('HTTP/1.1 400 Bad Request');
    }));

  it('The HTTP server of the console hides the message of an unexpected error', () =>
    withServer({}, async (address) => {
      const { status, text } = await read(address, '/bug');
      expect([status, text.includes('secret')]).to.deep.equal([500, false]);
    }));
});
