import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import type { Event } from '../../domain/events/event.ts';
import { UndoLog } from '../../domain/state/undo-log.ts';
import { endedPodId } from '../../domain/state/ended-pods.ts';
import { evolve, eventDefinitions, eventTypes } from '../../domain/events/registry.ts';
import { initialState } from '../../domain/state/state.ts';
import { hasEndState, historyStart } from '../../domain/values/ledger.ts';
import { chainEvent, emptyHead, type Envelope, advanceHead, type Head, parseEvent } from './chain.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';

const goldenOf = (version: EventVersion): string[] =>
  readFileSync(join(import.meta.dirname, `../../../test/golden/events-v${version}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n');

/**
 * The hash of the last line of each golden file. Golden files never change: a new version gets a
 * new file.
 */
const lastHashes: Readonly<Record<EventVersion, string>> = {
  1: 'ac328aa060d5ab758f5be2fd703271a834526c2fd76c1e435ebdcac4d316be4b',
  2: '46d799c8b528ef322b16487ee10bbdfd01a09a4665ba755f2d56804f5ed1112c',
  3: '0bd55c93416599fe61ab17d66d34d44810a8a0366b9e93d74dd982f984846d2a',
  4: 'c00fce5de97c802e1790f09017603be701f1b588d80bb84bec279b4753fa4109',
  5: '28ccecc7911c35cd8cbdbde170ae8ff94dbbb190f1ed7c4b800eb4b6cbddac2d',
  6: 'd44d069a7b2fd9a6f86ed0da34075c3cce5c9eb44c3ea625d6284884894c21be',
  7: '31a6858f6b37a8caa51a224549e83d86d47d95127b089649fa274bae739087df',
  8: 'a8f4dd1826d383b4902dad493cddda802c5c29f5425796d4f7caeb9e891838df',
  9: '9003c139209c3181a4dbefb795028116d2f71110f02d124a669830100c42294f',
};
const golden = goldenOf(2);

/** Checks the chain from the first line on, as an auditor does. */
function audit(lines: readonly string[]): Head {
  let head = emptyHead;
  for (const line of lines) head = advanceHead(head, parseEvent(line));
  return head;
}

/** A line of the golden file with a changed field. */
const edited = (index: number, change: object): string =>
  JSON.stringify({ ...(JSON.parse(golden[index] as string) as Envelope), ...change });

for (const version of eventVersions)
  describe(`Golden events of version ${version}`, () => {
    const golden = goldenOf(version);

    it('Golden events of each version include each event type', () => {
      const types = golden.map((line) => parseEvent(line).envelope.type);
      const expected = eventTypes.filter((type) => eventDefinitions[type].since <= version);
      expect(expected.filter((type) => !types.includes(type))).to.deep.equal([]);
    });

    it('Golden events of each version are a hash chain: each event has the SHA-256 of the previous one', () => {
      let previous = '';
      for (const line of golden) {
        expect((JSON.parse(line) as Envelope).prev).to.equal(previous);
        previous = createHash('sha256').update(line).digest('hex');
      }
      expect(audit(golden)).to.include({ seq: golden.length, hash: previous });
      expect(previous).to.equal(lastHashes[version]);
    });

    it('evolve to the same state as when they were written', () => {
      const state = initialState();
      for (const line of golden) evolve(state, parseEvent(line).sequenced, new UndoLog());
      const { subnets, pods, sandboxes, macs } = describeState(state) as Record<string, unknown[]>;
      expect({ ledger: state.ledger, pods: pods?.map((pod) => (pod as [string])[0]) }).to.deep.equal({
        ledger: '01KG9AG8M00000000000000001',
        pods: ['default/db-0', 'default/dual'],
      });
      expect(macs).to.deep.equal([
        [
          'macvlan.default/02:00:00:53:6b:bb',
          { namespace: 'default', pod: 'db-0', provider: 'macvlan.default', ordinal: 0 },
        ],
      ]);
      expect(sandboxes).to.deep.equal([['container-of-db-0/net1', ['macvlan/172.17.0.100']]]);
      expect(subnets?.map((subnet) => (subnet as { name: string }).name)).to.deep.equal(['dual', 'macvlan']);
    });

    it('Golden events of each version are written again byte for byte', () => {
      let before = emptyHead;
      for (const line of golden) {
        const { envelope, sequenced } = parseEvent(line);
        const { seq: _seq, at, ...event } = sequenced;
        const { stored, head } = chainEvent(before, event, {
          id: envelope.id,
          command: envelope.cmd,
          part: envelope.part,
          at,
          clock: Date.parse(envelope.clock ?? envelope.at),
          actor: envelope.actor,
          before: envelope.before,
          version,
        });
        expect(stored.text).to.equal(line);
        expect(stored).to.deep.equal(parseEvent(line));
        before = head;
      }
    });
  });

describe('Events of version 1', () => {
  it('Events of version 1 end each binding with the cause "container deleted", because there was no other cause', () => {
    const unbound = goldenOf(1)
      .map((line) => parseEvent(line).sequenced)
      .find(({ type }) => type === 'AddressUnbound');
    expect(unbound?.data).to.have.property('cause', 'container-deleted');
    expect(goldenOf(1).join('')).to.not.contain('container-deleted');
  });

  it('Events of version 1 are written while a replica cannot read newer versions, with all data of version 1', () => {
    const event = parseEvent(golden.at(-1) as string).sequenced;
    expect(event.data).to.have.property('cause', 'node-deleted');
    const wrapping = { id: 'I', command: 'C', part: [1, 1], at: 2_000, clock: 2_000, actor: 'a', before: {} } as const;
    const { stored } = chainEvent(emptyHead, event, { ...wrapping, version: 1 });
    expect(stored.envelope.v).to.equal(1);
    expect(stored.envelope.data).to.not.have.property('cause');
    expect(stored.sequenced.data).to.have.property('cause', 'container-deleted');
    expect(stored).to.deep.equal(parseEvent(stored.text));
    expect(chainEvent(emptyHead, event, wrapping).stored.envelope.v).to.equal(eventVersions.at(-1));
  });
});

describe('Events of version 3', () => {
  it('Events of version 3 restore pools, reservations and quarantine', () => {
    const state = initialState();
    for (const line of goldenOf(3)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    const { pools, reservations, reservedMacs } = describeState(state) as Record<string, unknown[]>;
    expect(pools?.map((pool) => (pool as [string])[0])).to.deep.equal(['blue']);
    expect(reservations).to.deep.equal([['vip/web', ['dual/10.16.0.9', 'dual/fd00:10:16::9']]]);
    expect(reservedMacs).to.deep.equal([['dual.default/02:00:00:00:00:09', ['dual/10.16.0.9', 'dual/fd00:10:16::9']]]);
    const quarantined = [...(state.claims.get('macvlan') ?? [])].filter(([, { quarantine }]) => quarantine);
    expect(quarantined.map(([address]) => address)).to.deep.equal(['172.17.0.13']);
  });
});

describe('Events of version 4', () => {
  it('Events of version 4 change no address; LedgerRestored begins an epoch', () => {
    const { epoch, seq } = audit(goldenOf(4));
    expect({ epoch, seq }).to.deep.equal({ epoch: 2, seq: 40 });
    expect(audit(goldenOf(4).slice(0, 38))).to.include({ epoch: 1 });
    const [state, known] = [initialState(), initialState()];
    for (const line of goldenOf(4)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    for (const line of goldenOf(3)) evolve(known, parseEvent(line).sequenced, new UndoLog());
    const { segments, ...addresses } = describeState(state) as Record<string, unknown>;
    expect(segments).to.have.length(1);
    expect({ ...addresses, segments: [] }).to.deep.equal(describeState(known));
  });
});

describe('Events of version 5', () => {
  it('Events of version 5 leave no claim for a dropped address, and record which events dropped claims last', () => {
    const [state, known] = [initialState(), initialState()];
    for (const line of goldenOf(5)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    for (const line of goldenOf(4)) evolve(known, parseEvent(line).sequenced, new UndoLog());
    const [after, before] = [state, known].map(({ claims }) => [...(claims.get('macvlan')?.keys() ?? [])]);
    const dropped = before?.filter((address) => !after?.includes(address));
    expect(dropped).to.have.members(['172.17.0.5', '172.17.0.12', '172.17.0.50', '172.17.0.200']);
    expect([...state.dropped]).to.deep.equal([['macvlan', [46, 45]]]);
  });

  it('Events of version 5 limit the addresses of a namespace', () => {
    const state = initialState();
    for (const line of goldenOf(5)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    expect(state.subnets.get('macvlan')?.subnet.spec).to.include({ maxAddressesPerNamespace: 100 });
  });

  it('Events of version 5 end a binding when its node is out of service, and change nothing else', () => {
    const ends = goldenOf(5).map((line) => parseEvent(line).sequenced);
    const causes = ends.flatMap((each) => (each.type === 'AddressUnbound' ? [each.data.cause] : []));
    expect(causes.at(-1)).to.equal('node-out-of-service');
    const [state, known] = [initialState(), initialState()];
    for (const line of goldenOf(5)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    for (const line of goldenOf(4)) evolve(known, parseEvent(line).sequenced, new UndoLog());
    const held = ({ claims }: typeof state) => claims.get('macvlan')?.get('172.17.0.100')?.bindings;
    expect(held(state)).to.deep.equal(held(known));
  });
});

describe('Events of version 6', () => {
  it('Events of version 6 record the Pods that ended, without static Pods and Pods of earlier events', () => {
    const state = initialState();
    for (const line of goldenOf(6)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    const uids = ['bb0c1a52-0000-4000-8000-000000000001', 'bb0c1a52-0000-4000-8000-000000000002'];
    const pods = uids.map((uid) => endedPodId('default', 'ends-0', uid));
    expect([...state.ended.chunks()]).to.deep.equal([{ index: 0, pods }]);
    expect(pods[0]).to.equal(createHash('sha256').update(`default/ends-0 ${uids[0]}`).digest('hex').slice(0, 16));
  });
});

describe('Events of version 7', () => {
  it('Events of version 7 record which segments have an end state: all segments of earlier versions do', () => {
    const segmentsOf = (version: EventVersion) => {
      const state = initialState();
      for (const line of goldenOf(version)) evolve(state, parseEvent(line).sequenced, new UndoLog());
      return state.segments.map((segment) => [segment.to, segment.files?.bytes, hasEndState(segment)]);
    };
    expect(segmentsOf(6)).to.deep.equal([[20, undefined, true]]);
    expect(segmentsOf(7)).to.deep.equal([
      [20, 4321, true],
      [40, 1234, false],
    ]);
  });
});

describe('Events of version 8', () => {
  it('Events of version 8 record where the history begins', () => {
    const state = initialState();
    for (const line of goldenOf(8)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    expect(state.segments.map(({ from, to, dropped }) => [from, to, dropped])).to.deep.equal([
      [1, 20, 56],
      [21, 40, undefined],
    ]);
    expect(historyStart(state.segments)).to.equal(21);
  });
});

describe('Events of version 9', () => {
  it('Events of version 9 record that a Subnet probes its addresses, and take one from a Pod because another host answered', () => {
    const state = initialState();
    for (const line of goldenOf(9)) evolve(state, parseEvent(line).sequenced, new UndoLog());
    expect(state.subnets.get('macvlan')?.subnet.spec).to.include({ probeAddresses: true });
    const { allocation, bindings, quarantine } = state.claims.get('macvlan')?.get('172.17.0.14') ?? {};
    expect({ allocation, bindings }).to.deep.equal({ allocation: undefined, bindings: [] });
    expect(quarantine).to.include({ seenMac: '52:54:00:12:34:56', seenAt: 'node-1' });
  });
});

describe('The hash chain', () => {
  it('The hash chain shows an edit of any byte', () => {
    const forged = golden.map((line, index) => (index === 3 ? line.replace('172.17', '172.18') : line));
    expect(() => audit(forged)).to.throw('the hash chain is broken at event 5');
    expect(() => audit([...golden.slice(0, 3), edited(3, { prev: 'f00' })])).to.throw(
      'the hash chain is broken at event 4: its previous hash is f00',
    );
  });

  it('The hash chain shows a gap, also at the beginning', () => {
    expect(() => audit([...golden.slice(0, 2), ...golden.slice(3)])).to.throw(
      'the log has a gap: event 4 follows event 2',
    );
    expect(() => audit(golden.slice(1))).to.throw('the log has a gap: event 2 follows event 0');
  });

  it('The hash chain shows swapped and repeated events', () => {
    const [one, two, three] = golden as [string, string, string];
    expect(() => audit([one, three, two])).to.throw('the log has a gap: event 3 follows event 1');
    expect(() => audit([one, two, two])).to.throw('the log has a gap: event 2 follows event 2');
    expect(() => audit([one, edited(2, { seq: 2 })])).to.throw('the hash chain is broken at event 2');
  });

  it('The hash chain names its ledger in each head, and records the clock only where it differs from ledger time', () => {
    const event: Event = { type: 'LedgerCreated', subnet: '', data: { ledger: 'L' } };
    const wrapping = { id: 'I', command: 'C', part: [1, 1], at: 2_000, actor: 'spec', before: {} } as const;
    expect(chainEvent(emptyHead, event, { ...wrapping, clock: 2_000 }).stored.envelope).to.not.have.property('clock');
    const { head } = chainEvent(emptyHead, event, { ...wrapping, clock: 2_000 });
    const retired: Event = { type: 'SubnetRetired', subnet: 'lan', data: {} };
    const next = chainEvent(head, retired, { ...wrapping, clock: 2_000 });
    expect([head.ledger, next.head.ledger]).to.deep.equal(['L', 'L']);
    const early = chainEvent(emptyHead, event, { ...wrapping, clock: 1_000 }).stored;
    expect(early.envelope).to.include({ at: '1970-01-01T00:00:02.000Z', clock: '1970-01-01T00:00:01.000Z' });
  });
});

describe('parseEvent', () => {
  const refusal = (line: string): unknown => {
    try {
      parseEvent(line);
    } catch (error) {
      return error;
    }
    throw new Error('it was read');
  };

  it('parseEvent rejects a newer version, and names the upgrade', () => {
    expect(refusal(edited(4, { v: 99 }))).to.deep.include({
      code: 'LEDGER_DAMAGED',
      message: `event 5 has schema version 99, but this program reads only ${eventVersions.join(', ')}: upgrade this program`,
    });
  });

  it('parseEvent rejects a newer version with the hashes by which the chain can be followed over the event', () => {
    const line = edited(4, { v: 99 });
    const { prev } = JSON.parse(line) as { readonly prev: string };
    expect(refusal(line)).to.include({ prev, hash: createHash('sha256').update(line).digest('hex') });
  });

  it('parseEvent rejects a line with at most 200 of its characters', () => {
    const [word, list] = ['x'.repeat(201), `[${'1,'.repeat(100)}1]`];
    expect(refusal(word)).to.have.property('message', `a line of the log is not JSON: ${word.slice(0, 200)}`);
    expect(refusal(list)).to.have.property('message', `a line of the log is not an event: ${list.slice(0, 200)}`);
  });

  it('parseEvent rejects an unknown type', () => {
    expect(refusal(edited(4, { type: 'AddressTeleported' }))).to.deep.include({
      code: 'LEDGER_DAMAGED',
      message: 'event 5 has type AddressTeleported, which this program does not support: upgrade this program',
    });
    expect(refusal(edited(4, { type: 'toString' }))).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('parseEvent rejects a line that is not an event', () => {
    for (const line of [
      '',
      'null',
      '[]',
      '{"seq":1}',
      '"v"',
      '{"v":1}',
      edited(4, { v: 0 }),
      edited(4, { v: 99, seq: { length: 1 } }),
      edited(4, { part: undefined }),
    ]) {
      const error = refusal(line);
      expect(error, line).to.have.property('code', 'LEDGER_DAMAGED');
      expect(error)
        .to.have.property('message')
        .that.matches(/a line of the log is not (an event|JSON): /);
    }
    for (const change of [
      { at: 'noon' },
      { data: null },
      { before: undefined },
      { seq: '5' },
      { prev: {} },
      { before: { a: {} } },
    ])
      expect(refusal(edited(4, change)), JSON.stringify(change)).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('parseEvent rejects data of another form than that of its type, and names the event and the field', () => {
    const changes = {
      'data.attachment.pod is not a text': {
        attachment: { namespace: 'default', pod: 7, provider: 'a.b', ordinal: 0 },
      },
      'data.attachment.ordinal is not a whole number': {
        attachment: { namespace: 'default', pod: 'a', provider: 'a.b', ordinal: -1 },
      },
      'data.addresses is not a list': { addresses: { length: 1e9 } },
      'data.addresses.0 is not an object': { addresses: ['10.0.0.1'] },
      'data.uid is not a text': { uid: undefined },
      'data.defaultRoute is not true or false': { defaultRoute: 'yes' },
    };
    const event = parseEvent(golden.find((line) => line.includes('"type":"AddressAllocated"')) ?? '');
    for (const [fault, change] of Object.entries(changes)) {
      const data = { ...event.envelope.data, ...change };
      expect(refusal(JSON.stringify({ ...event.envelope, data }))).to.include({
        code: 'LEDGER_DAMAGED',
        message: `event ${event.envelope.seq} has not the data of an event of type AddressAllocated: ${fault}`,
      });
    }
  });
});
