import { expect } from 'chai';
import fc from 'fast-check';
import { type Address, formatAddress, parseAddress } from '../addresses/address.ts';
import { type Claim, standingOf } from './claim.ts';
import { effectiveClaim } from './claims-on-network.ts';
import { type Command, type IpFamily, noBindingTimeoutMs } from '../commands/command.ts';
import { decide } from '../decide/decide.ts';
import { describeState } from '../testing/describe-state.ts';
import type { Event, Sequenced } from '../events/event.ts';
import { UndoLog } from './undo-log.ts';
import { contains, formatRanges, type Interval, difference, countAddresses, union } from '../addresses/interval.ts';
import { type Usage, usageOf } from '../queries/queries.ts';
import { restoreState } from './snapshot.ts';
import { allocateAll, smallSubnet, subnetConfigured } from '../testing/event-fixtures.ts';
import { foldEvents, snapshotOf, startTime, type Untimed } from '../testing/given-when-then.ts';
import { evolve } from '../events/registry.ts';
import { type ConfiguredSubnet, cooldownTimesOfSubnet, initialState, type State } from './state.ts';

const pods = ['a', 'b', 'c', 'd', 'e'];
const anyPod = fc.constantFrom(...pods);
const anyUid = fc.constantFrom('1', '2');
const inSmall = { provider: 'small.default', subnets: ['small'] };
const dual = subnetConfigured('dual', {
  cidrBlock: '10.1.0.0/29,fd00:1::/64',
  gateway: '10.1.0.1,fd00:1::1',
  excludeIps: ['10.1.0.1', 'fd00:1::1'],
  protocol: 'Dual',
});
const inDual = { provider: 'dual.default', subnets: ['dual'] };

const anyAttachments = fc.constantFrom<Parameters<typeof allocateAll>[1]>(
  [inSmall],
  [inSmall, { ...inSmall, ordinal: 1 }],
  [inDual],
  [inDual, inSmall],
  [{ ...inSmall, candidates: [['10.0.0.3']] }],
  [{ ...inSmall, candidates: [['10.0.0.2'], ['10.0.0.4']], mac: '02:00:00:00:00:01' }],
  [{ ...inDual, candidates: [['fd00:1::5']] }],
  [{ ...inDual, ipFamily: 'ipv4' }],
  [{ ...inDual, ipFamily: 'ipv6', candidates: [['fd00:1::6'], ['fd00:1::7']] }],
  [{ ...inDual, pool: 'upper' }],
  [{ ...inSmall, pool: 'one' }],
  [{ ...inSmall, reservation: 'vip/web' }],
  [{ ...inSmall, reservation: 'vip/web', candidates: [['10.0.0.3']] }, inDual],
);
const anyReservation = fc
  .record({
    subnet: fc.constantFrom('small', 'dual'),
    reservedFor: fc.constantFrom('vip/web', 'vip/db', 'pod/default/a/small.default', 'pod/default/b/dual.default'),
    addresses: fc.constantFrom<string[]>([], [], ['10.0.0.3'], ['10.1.0.4'], ['10.1.0.4', 'fd00:1::4']),
    ipFamily: fc.constantFrom<IpFamily>('', 'ipv4'),
    mac: fc.constantFrom('', '', '02:00:00:00:00:01'),
  })
  .map((parts): Untimed => ({ type: 'Reserve', reason: '', ...parts }));
const anyUnreserve = fc
  .record({
    subnet: fc.constantFrom('small', 'dual'),
    addresses: fc.constantFrom<string[]>([], ['10.0.0.3'], ['10.0.0.2', '10.0.0.3', '10.0.0.4'], ['fd00:1::4']),
    reservedFor: fc.constantFrom('', 'vip/web', 'vip/db'),
  })
  .map((parts): Untimed => ({ type: 'Unreserve', reason: '', ...parts }));
const anyQuarantine = fc
  .tuple(
    fc.constantFrom('Quarantine', 'Unquarantine'),
    fc.constantFrom('small/10.0.0.2', 'small/10.0.0.3', 'dual/fd00:1::2'),
  )
  .map(([type, where]) => {
    const [subnet, address] = where.split('/');
    return { type, subnet, address, seenMac: '', seenAt: '', reason: '' } as Untimed;
  });
const anyPool = fc
  .tuple(
    fc.constantFrom('one', 'upper'),
    fc.constantFrom<[string, ...string[]]>(
      ['small', '10.0.0.3'],
      ['small', '10.0.0.2..10.0.0.3'],
      ['dual', '10.1.0.4/30', 'fd00:1::4/126'],
      ['dual', '10.1.0.0/24'],
    ),
  )
  .map(([name, [subnet, ...ips]]): Untimed => ({ type: 'ApplyPool', name, spec: { subnet, ips, namespaces: [] } }));
const anyDrop = fc
  .constantFrom(
    ['small', '10.0.0.2', '10.0.0.3', '10.0.0.4'],
    ['dual', '10.1.0.2', 'fd00:1::2', '10.1.0.3', 'fd00:1::5', '10.1.0.4'],
  )
  .map(([subnet = '', ...addresses]): Untimed => ({ type: 'DropClaims', subnet, addresses }));
const anySandbox = fc.record({
  containerId: fc.constantFrom('c1', 'c2'),
  interface: fc.constantFrom('net1', 'net2'),
});
const anyCommand: fc.Arbitrary<Untimed> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(anyPod, anyUid, anyAttachments)
      .map(([pod, uid, attachments]) => allocateAll(pod, attachments, { uid: pod + uid })),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(anyPod, anyUid).map(([pod, uid]): Untimed => {
      return { type: 'Release', namespace: 'default', pod, uid: pod + uid, cause: 'pod-deleted', evidence: '' };
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(anyPod, anyUid, anySandbox, fc.constantFrom('n1/b1', 'n1/b2', 'n2/b1'))
      .map(([pod, uid, sandbox, place]): Untimed => {
        const [node = '', bootId = ''] = place.split('/');
        return {
          type: 'Bind',
          namespace: 'default',
          pod,
          uid: pod + uid,
          provider: 'small.default',
          ...sandbox,
          node,
          bootId,
        };
      }),
  },
  {
    weight: 2,
    arbitrary: anySandbox.map((sandbox): Untimed => ({ type: 'Unbind', ...sandbox, cause: 'container-deleted' })),
  },
  { weight: 2, arbitrary: anyReservation },
  { weight: 1, arbitrary: anyUnreserve },
  { weight: 1, arbitrary: anyQuarantine },
  { weight: 2, arbitrary: anyPool },
  { weight: 2, arbitrary: anyDrop },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Untimed>(
      { type: 'RetireSubnet', name: 'small' },
      { type: 'RetirePool', name: 'one' },
      { type: 'RetirePool', name: 'upper' },
      applyOf(smallSubnet()),
      applyOf(smallSubnet({ maxAddressesPerNamespace: 2 })),
      applyOf(smallSubnet({ excludeIps: ['10.0.0.1', '10.0.0.4'] })),
    ),
  },
);

function applyOf(event: Event): Untimed {
  if (event.type !== 'SubnetConfigured') throw new Error(event.type);
  return { type: 'ApplySubnet', name: event.subnet, spec: event.data.spec };
}

/** Commands with the milliseconds that pass before each. */
const anyHistory = fc.array(fc.tuple(anyCommand, fc.constantFrom(0, 10_000, 60_000, 3_600_000)), {
  maxLength: 50,
  size: 'max',
});

interface Run {
  readonly state: State;
  readonly events: readonly Sequenced[];
  readonly now: number;
}

/**
 * Decides and applies a history. Checks the invariants after each command, and that its events can
 * be undone.
 */
function play(history: readonly (readonly [Untimed, number])[]): Run {
  const state = initialState();
  const events: Sequenced[] = [];
  let now = startTime;
  const apply = (happened: readonly Event[], undoLog: UndoLog): void => {
    for (const event of happened) {
      const sequenced = { ...event, seq: events.length + 1, at: now } as Sequenced;
      evolve(state, sequenced, undoLog);
      events.push(sequenced);
    }
  };
  apply([smallSubnet(), dual], new UndoLog());
  for (const [untimed, pass] of history) {
    now += pass;
    const decision = decide(state, { ...untimed, now });
    if (decision.kind === 'refused') continue;
    const before = describeState(state);
    const undoLog = new UndoLog();
    const count = events.length;
    apply(decision.events, undoLog);
    undoLog.rollBack();
    expect(describeState(state)).to.deep.equal(before);
    events.length = count;
    apply(decision.events, new UndoLog());
    assertInvariants(state);
  }
  return { state, events, now };
}

/**
 * Checks that each usable address is in exactly one list or set, that the usage of each subnet
 * equals a count of its claims, and that the indexes match the claims.
 */
function assertInvariants(state: State): void {
  for (const configured of state.subnets.values())
    expect(usageOf(configured)).to.deep.equal(usageByCounting(state, configured));
  for (const [name, { spaces, subnet }] of state.subnets)
    for (const space of spaces) {
      if (space.total > 1_000n) continue;
      const { family } = space.subnetFamily;
      const claims = [...(state.claims.get(name) ?? [])].filter(
        ([address]) => address.includes(':') === (family === 6),
      );
      const valuesOf = (ranges: readonly Interval[]): bigint[] =>
        ranges.flatMap(({ first, last }) =>
          Array.from({ length: Number(last - first) + 1 }, (_, i) => first + BigInt(i)),
        );
      const places = space.pools.flatMap((pool) => [
        ...pool.firstFresh(1_000),
        ...pool.released.idle,
        ...pool.released.held,
        ...[pool.inUseRanges, pool.reservedRanges, pool.quarantinedRanges].flatMap(valuesOf),
      ]);
      expect(BigInt(places.length), `${name}: every address is in a list or set`).to.equal(space.total);
      expect(new Set(places).size, `${name}: in one only`).to.equal(places.length);
      const times = { cooldownMs: 1_000, bindingTimeoutMs: 5_000 };
      const textOf = (value: bigint): string => formatAddress({ family, value });
      const changedAt = (value: bigint): number => effectiveClaim(state, subnet, textOf(value))?.lastAt ?? 0;
      const instants = claims.flatMap(([, { lastAt }]) => [lastAt + times.cooldownMs, lastAt + times.bindingTimeoutMs]);
      for (const now of [0, ...instants])
        for (const pool of space.pools) {
          const { idle, held } = pool.released;
          const free = [
            ...pool.firstFresh(1_000),
            ...[...idle].filter((value) => changedAt(value) <= now - times.cooldownMs),
            ...[...held].filter((value) => changedAt(value) <= now - times.bindingTimeoutMs),
          ];
          expect([...pool.candidates(now, times)], `${name}: free at ${now}`).to.deep.equal(free.map(textOf));
          expect(pool.countFree(now, times), `${name}: free at ${now}`).to.equal(BigInt(free.length));
        }
      expect(claims.filter(([, claim]) => claim.allocation).length).to.be.at.least(Number(space.inUse));
    }
  const holders = [...state.claims].flatMap(([subnet, claims]) =>
    [...claims].flatMap(([address, { allocation }]) => (allocation ? [`${subnet}/${address}/${allocation.seq}`] : [])),
  );
  const allocations = [...state.pods.after(0)].flatMap(({ subnet, addresses, seq }) =>
    addresses.map(({ address }) => `${subnet}/${address}/${seq}`),
  );
  expect(allocations.toSorted()).to.deep.equal(holders.toSorted());
}

/** Computes counts and ranges by reading each claim. */
function usageByCounting(state: State, { subnet, spaces }: ConfiguredSubnet): Usage[] {
  return spaces.map(({ subnetFamily: { family, usable } }) => {
    const claims = [...(state.claims.get(subnet.name) ?? [])].flatMap(([address, claim]) => {
      const { family: of, value } = parseAddress(address) as Address;
      return of === family && contains(usable, value) ? [{ claim, at: { first: value, last: value } }] : [];
    });
    const where = (is: (claim: Claim) => boolean): Interval[] =>
      claims.filter(({ claim }) => is(claim)).map(({ at }) => at);
    const held = where(({ allocation }) => allocation !== undefined);
    const reserved = where((claim) => !claim.allocation && !claim.quarantine && claim.reservation !== undefined);
    const total = countAddresses(usable);
    const quarantined = where((claim) => !claim.allocation && claim.quarantine !== undefined);
    const taken = union([...held, ...reserved]);
    const inUse = countAddresses(taken);
    return {
      family,
      total,
      inUse,
      available: total - inUse,
      coolingDown: BigInt(claims.length) - inUse,
      reserved: BigInt(reserved.length),
      held: BigInt(where((claim) => standingOf(claim) === 'held').length),
      quarantined: BigInt(quarantined.length),
      inUseRange: formatRanges(family, taken),
      availableRange: formatRanges(family, difference(usable, taken)),
      reservedRange: formatRanges(family, union(reserved)),
      quarantinedRange: formatRanges(family, union(quarantined)),
    };
  });
}

describe('State', () => {
  it('State has at most one Pod for each address, keeps the address in one list, and can undo every change', () => {
    fc.assert(
      fc.property(anyHistory, (history) => void play(history)),
      { numRuns: 100 },
    );
  });

  it('a state restored from the keys, equals the fold of the log', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { state, events } = play(history);
        expect(describeState(restoreState(snapshotOf(state)))).to.deep.equal(describeState(state));
        const folded = foldEvents(events, (index) => (events[index] as Sequenced).at);
        expect(describeState(folded)).to.deep.equal(describeState(state));
      }),
      { numRuns: 150 },
    );
  });

  it('State that is restored from the keys leads to the same decisions, also after further events', () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (history, future) => {
        const { state, events, now: then } = play(history);
        const restored = restoreState(snapshotOf(state));
        let [now, seq] = [then, events.length];
        for (const [untimed, pass] of future) {
          now += pass;
          const command = { ...untimed, now } as Command;
          const decision = decide(state, command);
          expect(decide(restored, command)).to.deep.equal(decision);
          if (decision.kind === 'refused') continue;
          for (const event of decision.events) {
            const sequenced = { ...event, seq: ++seq, at: now } as Sequenced;
            for (const each of [state, restored]) evolve(each, sequenced, new UndoLog());
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('State rejects an event of an unknown type', () => {
    const unknown = { type: 'AddressTeleported', subnet: 's', data: {}, seq: 1, at: startTime } as unknown as Sequenced;
    expect(() => evolve(initialState(), unknown, new UndoLog())).to.throw('unknown event');
  });

  it('State has the default cooldown times for a retired Subnet, also if its own were longer', () => {
    const own = { cooldownMs: 7_200_000, bindingTimeoutMs: 7_200_000 };
    const configured = smallSubnet(own);
    const retired: Event = { type: 'SubnetRetired', subnet: 'small', data: {} };
    expect(cooldownTimesOfSubnet(foldEvents([configured]), 'small')).to.include(own);
    const defaults = { cooldownMs: 60_000, bindingTimeoutMs: noBindingTimeoutMs };
    expect(cooldownTimesOfSubnet(foldEvents([configured, retired]), 'small')).to.deep.equal(defaults);
  });
});
