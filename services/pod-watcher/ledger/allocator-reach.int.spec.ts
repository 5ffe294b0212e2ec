import { expect } from 'chai';
import { connect } from '../../../lib/grpc/client.ts';
import { startTestServer } from '../../../lib/grpc/testing/grpc-test-server.ts';
import { LedgerService } from '../../../proto/generated/ipledger.ts';
import { createReachProbe } from './allocator-reach.ts';

describe('createReachProbe', () => {
  it('createReachProbe reports the status of each answer', async () => {
    const cannotWrite = { reason: 'etcd-full', message: 'etcd is full', since: '2026-11-17T14:05:00.000Z' };
    const getStatus = (_call: unknown, done: (error: null, reply: object) => void): void => done(null, { cannotWrite });
    await using server = await startTestServer([LedgerService, { getStatus }]);
    const client = connect(server.endpoint, undefined);
    const seen: unknown[] = [];
    const probe = createReachProbe(client, (status) => seen.push(status.cannotWrite));
    expect(await probe(new AbortController().signal)).to.equal(true);
    client.close();
    expect(seen).to.deep.equal([cannotWrite]);
  });
});
