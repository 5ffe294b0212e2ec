import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { describeState } from '../../domain/testing/describe-state.ts';
import { allocate, allocateAll } from '../../domain/testing/event-fixtures.ts';
import type { AllocationRefused } from '../../domain/events/event.ts';
import type { StoredEvent } from '../chain/chain.ts';
import { addressKey, headKey, logKey, logPrefix } from '../store/keys.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { LedgerClock } from '../chain/ledger-clock.ts';
import { Replica } from './replica.ts';
import {
  applySubnet,
  bind,
  submitAll,
  createLedger,
  describeFold,
  failureOf,
  smallAttachment,
  logOf,
  macvlan,
  never,
  release,
  requestFor,
  small,
  startWriter,
  type RunningWriter,
} from '../testing/running-writer.ts';
import { sealLines, UnreliableLedger } from '../testing/unreliable-ledger.ts';
import { eventVersions } from '../../domain/events/schema-version.ts';

describe('Replica', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  let standby: Replica;
  beforeEach(async () => {
    memory = new MemoryLedger();
    ledger = new UnreliableLedger(memory);
    working = await startWriter(memory);
    await submitAll(working.writer, createLedger(), macvlan, small);
    standby = await Replica.load(ledger, never);
  });
  afterEach(async () => void (await working.stop()));

  it('Replica loads head, state and revisions', async () => {
    await submitAll(working.writer, allocate('a'));
    const loaded = await Replica.load(memory, never);
    expect(loaded.head).to.deep.equal(working.replica.head);
    expect(describeState(loaded.state)).to.deep.equal(describeState(working.replica.state));
    const name = { subnet: 'macvlan', address: '172.17.0.11' };
    expect(loaded.revisionOf(name)).to.equal(working.replica.revisionOf(name)).and.to.not.equal(0n);
    expect(loaded.revisionOf({ ...name, address: '172.17.0.12' })).to.equal(0n);
  });

  it('Replica refuses keys that a newer program has written, by the last event of the log', async () => {
    await submitAll(working.writer, allocate('a'));
    const { seq } = working.replica.head;
    const key = logKey(seq);
    const { v, ...event } = JSON.parse(memory.get(key) ?? '') as { v: number };
    expect((await Replica.load(memory, never)).version).to.equal(v);
    memory.put(key, JSON.stringify({ v: v + 1, ...event }));
    const { code, message } = await failureOf(Replica.load(memory, never));
    expect(code).to.equal('LEDGER_DAMAGED');
    expect(message).to.contain(`event ${seq} has schema version ${v + 1}, but this program reads only`);
    memory.put(key, 'no event');
    expect((await Replica.load(memory, never)).head.seq, 'with any other damage of the log').to.equal(seq);
  });

  it('Replica loads the network of a quarantine in a retired Subnet, even from a key without networks', async () => {
    const quarantine = { subnet: 'macvlan', address: '172.17.0.11', seenMac: '', seenAt: '', reason: '' };
    await submitAll(working.writer, allocate('a'), release('a'));
    await submitAll(working.writer, { type: 'Quarantine', ...quarantine }, { type: 'RetireSubnet', name: 'macvlan' });
    const key = addressKey(quarantine);
    const { networks, ...older } = JSON.parse(memory.get(key) ?? '') as { networks: string[] };
    expect(networks).to.deep.equal(['macvlan.default']);
    const { read } = ledger;
    const readFrom: number[] = [];
    ledger.read = (from, signal) => (readFrom.push(from), read.call(ledger, from, signal));
    const { seq } = (await Replica.load(ledger, never)).head;
    expect(readFrom.splice(0), 'with the networks of each claim').to.deep.equal([seq]);
    memory.put(key, JSON.stringify(older));
    const loaded = await Replica.load(ledger, never);
    expect(readFrom).to.deep.equal([seq, 1]);
    expect(describeState(loaded.state)).to.deep.equal(describeFold(await logOf(memory)));
    // An unreadable log must not prevent the start.
    memory.put(logKey(2), '{}');
    const claim = (await Replica.load(memory, never)).state.claims.get('macvlan')?.get('172.17.0.11');
    expect(claim?.networks).to.deep.equal([]);
  });

  it('Replica is not loaded while the log cannot be read for networks of claims, because another Pod could get such an address', async () => {
    const quarantine = { subnet: 'macvlan', address: '172.17.0.11', seenMac: '', seenAt: '', reason: '' };
    await submitAll(working.writer, { type: 'Quarantine', ...quarantine }, { type: 'RetireSubnet', name: 'macvlan' });
    const key = addressKey(quarantine);
    const { networks: _, ...older } = JSON.parse(memory.get(key) ?? '') as { networks: string[] };
    memory.put(key, JSON.stringify(older));
    const { read } = ledger;
    ledger.read = (from, signal) => {
      if (from === 1) ledger.failingReads = 1;
      return read.call(ledger, from, signal);
    };
    expect(await failureOf(Replica.load(ledger, never))).to.have.property('code', 'UNAVAILABLE');
    ledger.read = read;
    const claim = (await Replica.load(ledger, never)).state.claims.get('macvlan')?.get('172.17.0.11');
    expect(claim?.networks).to.deep.equal(['macvlan.default']);
  });

  it('Replica ends when the events that follow its state are sealed: their lines have no revisions of the claims', async () => {
    const before = describeState(standby.state);
    await submitAll(working.writer, allocate('a'));
    sealLines(ledger);
    expect(await failureOf(standby.catchUp(never))).to.include({
      code: 'POSITION_GONE',
      message:
        'this replica fell behind, to event 3, and the next events are sealed. It ends, to load the ledger again at its next start',
    });
    expect(describeState(standby.state)).to.deep.equal(before);
  });

  it('Replica resolves untilReached for an event that it has already, without a later event', async () => {
    await standby.untilReached(standby.head.seq, never);
  });

  it('Replica reports each refusal as recorded for an hour after 10,000 refusals, so that the log does not grow with refused Pods', async () => {
    await failureOf(working.writer.submit(requestFor(allocate('a', { subnets: ['nowhere'] }))));
    const [refused] = working.replica.recentFrom(4) as [StoredEvent];
    const { head } = working.replica;
    const refusalOf = (uid: string): AllocationRefused => {
      const { sequenced } = refused;
      if (sequenced.type !== 'AllocationRefused') throw new Error(sequenced.type);
      return { ...sequenced, data: { ...sequenced.data, uid } };
    };
    const commit = (from: number, to: number): void => {
      const uids = Array.from({ length: to - from }, (_, index) => `uid-${from + index}`);
      const events = uids.map((uid) => ({ ...refused, sequenced: { ...refused.sequenced, ...refusalOf(uid) } }));
      standby.commit(events, head, 1n);
    };
    commit(0, 9_999);
    expect(standby.hasRecordedRefusal(refusalOf('uid-0'))).to.equal(true);
    expect(standby.hasRecordedRefusal(refusalOf('another'))).to.equal(false);
    commit(9_999, 10_000);
    expect(standby.hasRecordedRefusal(refusalOf('another'))).to.equal(true);
    standby.commit([], { ...head, at: head.at + 3_600_000 }, 0n);
    expect(standby.hasRecordedRefusal(refusalOf('another'))).to.equal(false);
  });

  it('Replica follows the log: state, revisions and time', async () => {
    await submitAll(working.writer, allocate('a'), bind('a'), release('a'), allocate('b', smallAttachment));
    await standby.catchUp(never);
    expect(standby.head).to.deep.equal(working.replica.head);
    expect(describeState(standby.state)).to.deep.equal(describeFold(await logOf(memory)));
    for (const name of [
      { subnet: 'macvlan', address: '172.17.0.11' },
      { subnet: 'small', address: '10.0.0.2' },
    ])
      expect(standby.revisionOf(name)).to.equal(working.replica.revisionOf(name));
    expect(standby.clock.read().at).to.be.at.least(standby.head.at);
    await standby.catchUp(never);
    expect(standby.head).to.deep.equal(working.replica.head);
  });

  it('Replica can continue as the writer, because it has the same revisions', async () => {
    await submitAll(working.writer, allocate('a'), bind('a'));
    await standby.catchUp(never);
    await working.stop();
    working = await startWriter(memory, { replica: standby });
    await submitAll(working.writer, release('a'), allocate('b'));
    expect(describeState(standby.state)).to.deep.equal(describeFold(await logOf(memory)));
    expect(standby.state.fenced.size).to.equal(0);
  });

  it('Replica passes complete commands to listeners, and keeps the recent commands', async () => {
    const received: number[][] = [];
    const stop = standby.onCommitted((events) => received.push(events.map(({ envelope: { seq } }) => seq)));
    await submitAll(working.writer, allocateAll('a', [{}, { ordinal: 1 }, { ordinal: 2 }]), allocate('b'));
    await standby.catchUp(never);
    expect(received).to.deep.equal([[4, 5, 6], [7]]);
    stop();
    await submitAll(working.writer, allocate('c'));
    await standby.catchUp(never);
    expect(received).to.have.length(2);
    const seqs = (events: readonly StoredEvent[] | undefined) => events?.map(({ envelope: { seq } }) => seq);
    expect(seqs(standby.recentFrom(4))).to.deep.equal([4, 5, 6, 7, 8]);
    expect(seqs(standby.recentFrom(8))).to.deep.equal([8]);
    expect(seqs(standby.recentFrom(9))).to.deep.equal([]);
    expect(standby.recentFrom(3), 'from before it was loaded').to.equal(undefined);
  });

  it('Replica applies a command only when it is complete, even if a page ends inside it', async () => {
    const paged = new MemoryLedger(memory.limits, 2);
    const writing = await startWriter(paged);
    const following = await Replica.load(paged, never);
    const received: number[][] = [];
    following.onCommitted((events) => received.push(events.map(({ envelope: { seq } }) => seq)));
    await submitAll(writing.writer, createLedger(), macvlan, small, allocateAll('b', [{}, { ordinal: 1 }]));
    await writing.stop();
    await following.catchUp(never);
    expect(received).to.deep.equal([[1], [2], [3], [4, 5]]);
  });

  it('Replica reads a command again whose read failed between two of its events', async () => {
    const paged = new MemoryLedger(memory.limits, 2);
    const writing = await startWriter(paged);
    await submitAll(writing.writer, createLedger(), macvlan);
    const following = await Replica.load(paged, never);
    await submitAll(writing.writer, allocateAll('b', [{}, { ordinal: 1 }, { ordinal: 2 }]));
    await writing.stop();
    const read = paged.read.bind(paged);
    paged.read = async function* (from, signal) {
      paged.read = read;
      for await (const page of read(from, signal)) {
        yield page;
        throw new IpledgerError('UNAVAILABLE', 'connection lost');
      }
    };
    expect(await failureOf(following.catchUp(never))).to.have.property('code', 'UNAVAILABLE');
    await following.catchUp(never);
    expect(describeState(following.state)).to.deep.equal(describeFold(await logOf(paged)));
  });

  it("the clock of a replica is never before the last event, even if the machine's clock is behind", async () => {
    const at = standby.head.at + 60_000;
    standby.commit([], { ...standby.head, at }, 0n);
    expect(standby.clock.read().at).to.be.at.least(at);
    const stopped = new LedgerClock({ wall: () => 0, monotonic: () => 0 });
    const loaded = await Replica.load(memory, never, stopped);
    expect(loaded.clock.read().at, 'after a start').to.equal(loaded.head.at);
  });

  it('Replica is unchanged when the log is not readable, and continues later', async () => {
    await submitAll(working.writer, allocate('a'));
    ledger.failingReads = 1;
    expect(await failureOf(standby.catchUp(never))).to.have.property('code', 'UNAVAILABLE');
    expect(standby.head.seq).to.equal(3);
    await standby.catchUp(never);
    expect(standby.head.seq).to.equal(4);
  });

  describe('stops with LEDGER_DAMAGED', () => {
    const damage = async (): Promise<string> => {
      const before = describeState(standby.state);
      const error = await failureOf(standby.catchUp(never));
      expect(error).to.have.property('code', 'LEDGER_DAMAGED');
      expect(describeState(standby.state), 'and with its state').to.deep.equal(before);
      return error.message;
    };
    const edit = (seq: number, from: string, to: string): void => {
      const text = memory.get(logKey(seq)) as string;
      expect(text).to.contain(from);
      memory.put(logKey(seq), text.replace(from, to));
    };
    beforeEach(() => submitAll(working.writer, allocateAll('a', [{}, { ordinal: 1 }])));

    it('Replica stops with LEDGER_DAMAGED at an event that was edited', async () => {
      edit(4, '"uid-a"', '"uid-x"');
      expect(await damage()).to.match(/^the hash chain is broken at event 5: its previous hash is/);
    });

    it('Replica stops with LEDGER_DAMAGED at an event of an unsupported version or type', async () => {
      const newest = `"v":${eventVersions.at(-1)}`;
      edit(5, newest, '"v":99');
      expect(await damage()).to.match(
        /^event 5 has schema version 99, but this program reads only [0-9, ]+: upgrade this program$/,
      );
      edit(5, '"v":99', newest);
      edit(5, 'AddressAllocated', 'AddressTeleported');
      expect(await damage()).to.contain('has type AddressTeleported');
    });

    it('Replica stops with LEDGER_DAMAGED at an event whose data cannot be applied, and names it', async () => {
      await submitAll(working.writer, applySubnet('other', { cidrBlock: '10.1.0.0/16' }));
      edit(6, '"cidrBlock":"10.1.0.0/16"', '"cidrBlock":"10.1.0.0"');
      memory.put(headKey, (memory.get(headKey) as string).replace(/"hash":"./, '"hash":"_'));
      const error = await failureOf(standby.catchUp(never));
      expect(error).to.include({ code: 'LEDGER_DAMAGED' });
      expect(error.message).to.match(/^event 6 has not the data of an event of type SubnetConfigured/);
      expect(standby.head.seq).to.equal(5);
    });

    it('Replica stops with LEDGER_DAMAGED at a missing event', async () => {
      memory.remove(logKey(4));
      expect(await damage()).to.equal('the log has a gap: event 5 follows event 3');
    });

    it('Replica stops with LEDGER_DAMAGED at a key that another program wrote into the log, and names it', async () => {
      for (const [key, value, reason] of [
        ['0000000000000004', 'garbage', 'a line of the log is not JSON: garbage'],
        [
          '0000000000000004',
          memory.get(logKey(3)) ?? '',
          'its value is event 3, whose key is /ipledger/v1/log/0000000000000003',
        ],
        ['0000000000000099', '{}', 'a line of the log is not an event: {}'],
        ['zzz', memory.get(logKey(5)) ?? '', 'its value is event 5, whose key is /ipledger/v1/log/0000000000000005'],
      ] as const) {
        const before = memory.get(`${logPrefix}${key}`);
        memory.put(`${logPrefix}${key}`, value);
        const { code, message } = await failureOf(standby.catchUp(never));
        expect([code, message]).to.deep.equal([
          'LEDGER_DAMAGED',
          `/ipledger/v1/log/${key}: ${reason}. Another program wrote this key. Run: ipledger verify --etcd URLS`,
        ]);
        if (before === undefined) memory.remove(`${logPrefix}${key}`);
        else memory.put(`${logPrefix}${key}`, before);
      }
    });

    it('Replica stops with LEDGER_DAMAGED when the log ends before the head', async () => {
      edit(5, '"part":[2,2]', '"part":[2,3]');
      expect(await damage()).to.contain('the log has no complete command after event 3');
    });

    it('Replica stops with LEDGER_DAMAGED when the head moved back, as after a restore from a backup', async () => {
      const before = memory.get(headKey) as string;
      await standby.catchUp(never);
      await submitAll(working.writer, allocate('b'));
      await standby.catchUp(never);
      memory.put(headKey, before);
      expect(await damage()).to.match(
        /^the ledger was rewound: this replica has read event 6 of epoch 1 \(\w{12}\), and etcd's head is event 5 of/,
      );
    });

    it('Replica stops with LEDGER_DAMAGED when the head is another event with the same number', async () => {
      await standby.catchUp(never);
      memory.put(headKey, (memory.get(headKey) as string).replace(/"hash":"./, '"hash":"_'));
      expect(await damage()).to.match(/^the ledger was rewound/);
    });
  });

  it('Replica fences an address with an unreadable key, and loads all other addresses', async () => {
    memory.put(addressKey({ subnet: 'macvlan', address: '172.17.0.99' }), '{"last":1');
    const started = await Replica.load(memory, never);
    expect([...started.state.fenced]).to.deep.equal(['macvlan/172.17.0.99']);
  });
});
