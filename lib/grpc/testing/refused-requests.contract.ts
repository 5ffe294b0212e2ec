/**
 * The contract of a gRPC client whose server refuses requests. Each implementation must pass it.
 */
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { errorCodeMetadata, IpledgerError } from '../../errors.ts';
import { call, type Connection, stream } from '../calls.ts';
import type { connect as connectWithGrpcJs } from '../client.ts';

const executed = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-status': '5',
  'grpc-message': 'executed',
  [errorCodeMetadata]: 'SUBNET_UNKNOWN',
};

/** How a server refuses a request on HTTP/2. */
const refusals = {
  'ends the connection before it takes the request': ({ session, id = 0 }: ServerHttp2Stream) =>
    session?.goaway(constants.NGHTTP2_NO_ERROR, id - 2),
  'ends the connection and refuses the request': (refused: ServerHttp2Stream) => {
    refused.session?.close();
    refused.close(constants.NGHTTP2_REFUSED_STREAM);
  },
};

const list = (client: Connection): Promise<unknown> =>
  call(client, IpamService.listAllocations, {}, { timeoutMs: 30_000 });

async function watch(client: Connection): Promise<void> {
  const options = { silenceMs: 30_000, signal: new AbortController().signal };
  for await (const reply of stream(client, LedgerService.watch, {}, options))
    expect.fail(`got ${JSON.stringify(reply)}`);
}

const errorOf = (sent: Promise<unknown>): Promise<IpledgerError> =>
  sent.then(
    () => expect.fail('the call succeeded'),
    (error: unknown) => IpledgerError.from(error),
  );

/** Registers the suite. @param connect opens a connection with the implementation under test */
export function describeRefusedRequests(connect: typeof connectWithGrpcJs): void {
  /** Starts a server that answers each request with an error, unless `refuse` has refused it. */
  async function withServer(
    refuse: (received: ServerHttp2Stream) => boolean,
    use: (client: Connection) => Promise<void>,
  ): Promise<void> {
    const sessions = new Set<ServerHttp2Session>();
    const server = createServer()
      .on('session', (session) => sessions.add(session))
      .on('stream', (received) => {
        received.on('error', () => undefined);
        if (!refuse(received)) received.respond(executed, { endStream: true });
      });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect(`127.0.0.1:${(server.address() as AddressInfo).port}`, undefined);
    try {
      await use(client);
    } finally {
      client.close();
      for (const session of sessions) session.destroy();
      server.close();
    }
  }

  describe('A refused request', () => {
    for (const [what, refuse] of Object.entries(refusals))
      it(`a call and a stream are sent once more when the server ${what}`, async () => {
        let received = 0;
        const refuseSecond = (each: ServerHttp2Stream): boolean => {
          if (++received % 3 !== 2) return false;
          refuse(each);
          return true;
        };
        await withServer(refuseSecond, async (client) => {
          for (const send of [list, list, watch, watch])
            expect(await errorOf(send(client))).to.include({ code: 'SUBNET_UNKNOWN', message: 'executed' });
        });
        expect(received).to.equal(6);
      });

    it('a call fails with UNAVAILABLE when the server refuses it twice', async () => {
      let received = 0;
      const refuseAll = (each: ServerHttp2Stream): boolean => {
        received++;
        each.close(constants.NGHTTP2_REFUSED_STREAM);
        return true;
      };
      await withServer(refuseAll, async (client) => {
        expect(await errorOf(list(client))).to.include({ code: 'UNAVAILABLE' });
      });
      expect(received).to.equal(2);
    });
  });
}
