import { expect } from 'chai';
import { connect } from '../../../lib/grpc/client.ts';
import { startTestServer } from '../../../lib/grpc/testing/grpc-test-server.ts';
import { IpamService, type Position, type ReportConflictRequest } from '../../../proto/generated/ipledger.ts';
import { createBindingClient } from './binding-client.ts';
import { LedgerEpoch } from './ledger-epoch.ts';

type Done = (error: null, reply: object) => void;

describe('The client of the agent', () => {
  it('The client of the agent reports a conflict with the latest event that it has seen, also after a reply of a restored ledger', async () => {
    let position: Position = { epoch: 1, seq: 0, hash: '' };
    const seen: number[] = [];
    await using server = await startTestServer([
      IpamService,
      {
        unbind: (_call: unknown, done: Done) => done(null, { position }),
        reportConflict: ({ request }: { request: ReportConflictRequest }, done: Done) => {
          seen.push(request.seenSeq);
          done(null, { position });
        },
      },
    ]);
    const connection = connect(server.endpoint, undefined);
    const allocator = createBindingClient(connection, new LedgerEpoch());
    const options = { timeoutMs: 10_000 };
    for (const [epoch, seq] of [
      [1, 30],
      [1, 12],
      [2, 5],
      [2, 6],
    ] as const) {
      position = { epoch, seq, hash: '' };
      await allocator.unbind({ containerId: 'c1', interface: 'net1' }, options);
      await allocator.reportConflict({ address: '172.17.0.11' }, options);
    }
    connection.close();
    expect(seen).to.deep.equal([30, 30, 5, 6]);
  });
});
