import { once } from 'node:events';
import {
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { expect } from 'chai';
import { endOverloaded } from './arriving-call.ts';
import { type HeldConnection, openHeldConnection } from './testing/held-connection.ts';

const turns = async (count: number): Promise<void> => {
  for (; count > 0; count--) await new Promise(setImmediate);
};

describe('The end of a refused call', () => {
  let connection: HeldConnection;
  beforeEach(async () => {
    connection = await openHeldConnection();
  });
  afterEach(() => connection[Symbol.dispose]());

  /** Opens a call whose request does not end. Returns both ends of its stream. */
  async function begin(): Promise<{ near: ClientHttp2Stream; far: ServerHttp2Stream }> {
    const near = connection.client.request({ ':method': 'POST', ':path': '/x' }, { endStream: false });
    near.on('error', () => undefined);
    const [far] = (await once(connection.server, 'stream')) as [ServerHttp2Stream];
    far.on('error', () => undefined);
    far.resume();
    return { near, far };
  }

  it('the reset of a call that is refused while its client reads nothing follows the status', async () => {
    const { near, far } = await begin();
    await connection.hold();
    const seen: string[] = [];
    near.on('response', (headers: IncomingHttpHeaders) => seen.push(`status ${String(headers['grpc-status'])}`));
    near.resume().on('close', () => seen.push(`reset ${near.rstCode}`));
    far.respond({ 'grpc-status': '14' }, { endStream: true });
    await once(far, 'finish');
    await turns(10);
    connection.connections.sweep(performance.now());
    await turns(10);
    connection.release();
    while (!seen.includes('status 14') && !near.closed) await turns(1);
    expect(seen).to.deep.equal(['status 14']);
    connection.connections.sweep(performance.now());
    if (!near.closed) await once(near, 'close');
    expect(seen).to.deep.equal(['status 14', 'reset 0']);
  });

  it('the reset of a call that ends after unread replies follows the trailers', async () => {
    const { near, far } = await begin();
    const seen: unknown[] = [];
    near.on('trailers', (headers: IncomingHttpHeaders) => seen.push(headers['grpc-status']));
    far.respond({}, { waitForTrailers: true });
    // More than the window of a stream, so that the client has to read before the trailers are
    // sent.
    far.write(Buffer.alloc(200_000));
    far.on('wantTrailers', () => far.sendTrailers({ 'grpc-status': '14' }));
    far.end();
    await turns(10);
    connection.connections.sweep(performance.now());
    await turns(10);
    near.resume();
    while (seen.length === 0 && !near.closed) await turns(1);
    expect(seen).to.deep.equal(['14']);
    connection.connections.sweep(performance.now());
    if (!near.closed) await once(near, 'close');
  });

  it('the end of an overloaded connection has a code from which clients know it', async () => {
    const { near, far } = await begin();
    near.resume();
    connection.client.on('error', () => undefined);
    let goaway: number | undefined;
    connection.client.on('goaway', (code: number) => (goaway = code));
    endOverloaded(far.session as ServerHttp2Session);
    while (!near.destroyed) await turns(1);
    expect(near.rstCode).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(goaway).to.equal(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it('a call that is refused at once is reset at once', async () => {
    const { near, far } = await begin();
    far.respond({ 'grpc-status': '14' }, { endStream: true });
    near.resume();
    await once(near, 'close');
    expect(near.rstCode).to.equal(0);
  });
});
