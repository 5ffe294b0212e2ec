import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { eventVersions, type EventVersion } from '../../domain/events/schema-version.ts';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { DecidedRequest } from '../pending-request.ts';
import { Replica } from '../reader/replica.ts';
import type { AppendLimits } from '../store/ledger.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { macvlan, never, newId, requestFor, silentLog } from '../testing/running-writer.ts';
import { BatchBuilder } from './batch.ts';
import { decideRequest } from './decide-request.ts';

describe('A refused request', () => {
  async function open(limits: Partial<AppendLimits> = {}) {
    const replica = await Replica.load(new MemoryLedger({ ops: 128, bytes: 1 << 20, ...limits }), never);
    const builder = new BatchBuilder(replica);
    const refusals: string[] = [];
    const eventVersion = (): EventVersion => eventVersions.at(-1) as EventVersion;
    const decide = (untimed: Untimed): DecidedRequest | 'full' => {
      const reject = ({ code }: IpledgerError): void => void refusals.push(code);
      const queued = { request: requestFor(untimed), resolve: () => undefined, reject };
      return decideRequest(builder, queued, { replica, newId, eventVersion, log: silentLog });
    };
    decide(macvlan);
    return { builder, decide, refusals };
  }
  const refused = allocate('b', { candidates: [['10.0.0.1']] });

  it('A refused request is recorded in a batch with other events, and is rejected when the batch is proven', async () => {
    const { builder, decide, refusals } = await open();
    const decided = decide(refused);
    expect(builder.events.map(({ envelope }) => envelope.type)).to.deep.equal([
      'SubnetConfigured',
      'AllocationRefused',
    ]);
    expect(decided).to.deep.include({ writes: true, isAllowedWhileFrozen: false });
    expect(refusals).to.deep.equal([]);
    if (decided !== 'full') decided.settle();
    expect(refusals).to.have.length(1);
  });

  it('A refused request waits for the next batch if its record does not fit beside other events', async () => {
    const outcomes = new Set<string>();
    for (let bytes = 1_200; bytes < 3_000; bytes += 50) {
      const { builder, decide } = await open({ bytes });
      if (builder.events.length === 0) continue;
      const decided = decide(refused);
      outcomes.add(`${builder.events.length} ${decided === 'full' ? decided : 'decided'}`);
    }
    expect([...outcomes]).to.deep.equal(['1 full', '2 decided']);
  });

  it('A refused request is rejected without a record if its record fits into no transaction', async () => {
    const { builder, decide } = await open({ bytes: 1_024 });
    expect(builder.events, 'the Subnet does not fit either').to.deep.equal([]);
    expect(decide(refused)).to.deep.include({ writes: true });
    expect(builder.events).to.deep.equal([]);
  });
});
