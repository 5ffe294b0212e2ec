import type { sendUnaryData } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { IpledgerError } from '../../errors.ts';
import { call, type Connection } from '../calls.ts';
import { startTestServer, startTestServerAt } from '../testing/grpc-test-server.ts';
import { connect } from './connect.ts';

const list = (connection: Connection): Promise<unknown> =>
  call(connection, IpamService.listAllocations, {}, { timeoutMs: 30_000 });

describe('A connection on HTTP/2 alone', () => {
  it('A connection on HTTP/2 alone finishes a call while the server stops, and reconnects when it has started again', async () => {
    const isHeld = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const listAllocations = (_call: unknown, answer: sendUnaryData<object>): void => {
      isHeld.resolve();
      void release.promise.then(() => answer(null, {}));
    };
    await using first = await startTestServer([IpamService, { listAllocations }]);
    const connection = connect(first.endpoint, undefined);
    try {
      const held = list(connection);
      await isHeld.promise;
      const stopped = first.stop();
      release.resolve();
      await held;
      await stopped;
      const failure = await list(connection).catch((error: unknown) => IpledgerError.from(error));
      expect(failure).to.include({ code: 'UNAVAILABLE' });
      await using second = await startTestServerAt(first.endpoint, [IpamService, { listAllocations }]);
      let reply: unknown;
      while (reply === undefined) reply = await list(connection).catch(() => undefined);
      expect(reply).to.have.property('allocations');
      expect(second.endpoint).to.equal(first.endpoint);
    } finally {
      connection.close();
    }
  });
});
