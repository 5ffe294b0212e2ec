import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { eventVersions, type EventVersion } from '../../domain/events/schema-version.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { DecidedRequest, PendingRequest } from '../pending-request.ts';
import { Refused } from '../../domain/commands/refusal.ts';
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

  it('A refused request is recorded once for each Pod in a batch, and writes nothing when it is recorded already', async () => {
    const { builder, decide } = await open();
    const another = allocate('c', { candidates: [['10.0.0.1']] });
    const writes = [refused, another, refused].map((each) => (decide(each) as DecidedRequest).writes);
    expect(writes).to.deep.equal([true, true, false]);
    expect(builder.events).to.have.length(3);
  });
});

describe('A decided request', () => {
  /** Decides requests for a batch of at most this many bytes, after the Subnet. */
  async function open(bytes = 1 << 20) {
    const replica = await Replica.load(new MemoryLedger({ ops: 128, bytes: 1 << 20 }), never);
    const builder = new BatchBuilder(replica);
    const failures: string[] = [];
    const eventVersion = (): EventVersion => eventVersions.at(-1) as EventVersion;
    const decide = (request: PendingRequest<unknown>): DecidedRequest | 'full' => {
      const reject = ({ code }: IpledgerError): void => void failures.push(code);
      const queued = { request, resolve: () => undefined, reject };
      return decideRequest(builder, queued, { replica, newId, eventVersion, log: silentLog });
    };
    const limit = (): void => void Object.assign(replica, { ledger: { limits: { ops: 128, bytes } } });
    return { builder, decide, failures, limit };
  }

  it('A decided request has events or not, and the time that its answer took', async () => {
    const { decide } = await open();
    expect(decide(requestFor(macvlan))).to.deep.include({ writes: true, isAllowedWhileFrozen: true });
    expect(decide(requestFor(allocate('a')))).to.deep.include({ writes: true, isAllowedWhileFrozen: false });
    const now = performance.now.bind(performance);
    let ms = 1_000;
    performance.now = () => ms;
    try {
      const repeated = { ...requestFor(allocate('a')), answer: () => void (ms += 7) };
      expect(decide(repeated)).to.deep.include({ writes: false, readMs: 7 });
    } finally {
      performance.now = now;
    }
  });

  it('A decided request whose answer is a refusal writes nothing', async () => {
    const { builder, decide, failures } = await open();
    const answer = (): never => {
      throw new Refused('SUBNET_UNKNOWN', 'no such Subnet');
    };
    const decided = decide({ answer, actor: '', signal: never }) as DecidedRequest;
    expect(decided).to.deep.include({ writes: false, isAllowedWhileFrozen: true });
    decided.settle();
    expect([failures, builder.events]).to.deep.equal([['SUBNET_UNKNOWN'], []]);
  });

  it('A decided request that does not fit waits for the next batch, or is rejected if the batch has nothing else', async () => {
    const { builder, decide, failures, limit } = await open(2_000);
    decide(requestFor(macvlan));
    limit();
    expect([decide(requestFor(allocate('a'))), builder.events.length]).to.deep.equal(['full', 1]);
    const alone = await open(1_100);
    alone.limit();
    const decided = alone.decide(requestFor(macvlan)) as DecidedRequest;
    decided.settle();
    expect([alone.failures, failures]).to.deep.equal([['INVALID_REQUEST'], []]);
  });

  it('A decided request that fails is reported in the log only if that is a bug', async () => {
    const replica = await Replica.load(new MemoryLedger(), never);
    const reported: unknown[] = [];
    const log = Object.create(silentLog, {
      error: { value: ({ err }: { err: Error }) => reported.push(err) },
    }) as Logger;
    const bug = new TypeError('oops');
    for (const error of [new IpledgerError('UNAVAILABLE', 'the node is unknown yet'), bug]) {
      const answer = (): never => {
        throw error;
      };
      const queued = {
        request: { answer, actor: '', signal: never },
        resolve: () => undefined,
        reject: () => undefined,
      };
      decideRequest(new BatchBuilder(replica), queued, { replica, newId, eventVersion: () => 1, log });
    }
    expect(reported).to.deep.equal([bug]);
  });
});
