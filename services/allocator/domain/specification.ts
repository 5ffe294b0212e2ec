/** How the domain's specs are written: given these events, when this is asked, then these happen. */
import { expect } from 'chai';
import type { Command } from './command.ts';
import { decide } from './decide.ts';
import { describeState } from './describe.ts';
import type { Event, SubnetSpec, UnbindCause } from './event.ts';
import { evolve } from './evolve.ts';
import { Journal } from './journal.ts';
import type { RefusalCode } from './refusal.ts';
import { restore, type Snapshot } from './restore.ts';
import { initialState, type State } from './state.ts';

/** When the specs' first event happened; each further one a second later. */
export const start = Date.parse('2026-01-31T08:00:00.000Z');
const second = 1_000;

/** Folds events, numbered from 1, into a state. */
export function fold(
  events: readonly Event[],
  at: (index: number) => number = (index) => start + index * second,
): State {
  const state = initialState();
  events.forEach((event, index) => evolve(state, { ...event, seq: index + 1, at: at(index) }, new Journal()));
  return state;
}

/** What a snapshot of the keys would hold of a state. */
export function snapshotOf(state: State): Snapshot {
  return {
    ledger: state.ledger,
    segments: state.segments,
    pools: [...state.pools.values()],
    subnets: [...state.subnets].map(([name, { subnet, source }]) => ({
      name,
      spec: subnet.spec,
      ...(source && { source }),
    })),
    claims: [...state.claims].flatMap(([subnet, claims]) =>
      [...claims].map(([address, claim]) => ({ subnet, address, claim })),
    ),
    dropped: [...state.dropped].map(([subnet, seqs]) => ({ subnet, seqs })),
  };
}

/** What is asked for, but for the time. */
export type Untimed<Kind extends Command = Command> = Kind extends Command ? Omit<Kind, 'now'> : never;

export interface Outcome {
  then(events: readonly Event[]): void;
  thenNothingHappens(): void;
  thenRefused(code: RefusalCode, message: RegExp | string): void;
  /** For looking closer; the events as they are. */
  readonly events: readonly Event[];
}

/**
 * A spec as a sentence. Besides what it asks, each checks that deciding changed nothing, that the events can be undone, and
 * that a state restored from the keys decides the same.
 */
export function given(events: readonly Event[]) {
  const whenAt = (now: number, untimed: Untimed): Outcome => {
    const state = fold(events);
    const command = { ...untimed, now } as Command;
    const before = describeState(state);
    const decision = decide(state, command);
    expect(describeState(state), 'deciding changes nothing').to.deep.equal(before);
    expect(decide(restore(snapshotOf(state)), command), 'a restored state decides the same').to.deep.equal(decision);
    if (decision.kind === 'accepted') undoes(state, decision.events, events.length);
    return outcomeOf(decision);
  };
  const later = start + events.length * second;
  return {
    when: (command: Untimed): Outcome => whenAt(later, command),
    /** As when, so much later than the last event. */
    whenAfter: (ms: number, command: Untimed): Outcome => whenAt(later - second + ms, command),
  };
}

function undoes(state: State, events: readonly Event[], past: number): void {
  const before = describeState(state);
  const journal = new Journal();
  events.forEach((event, index) => evolve(state, { ...event, seq: past + index + 1, at: start }, journal));
  journal.rollBack();
  expect(describeState(state), 'the events can be undone').to.deep.equal(before);
}

function outcomeOf(decision: ReturnType<typeof decide>): Outcome {
  const accepted = (): readonly Event[] => {
    if (decision.kind === 'refused') throw new Error(`refused: ${decision.refusal.code} ${decision.refusal.message}`);
    return decision.events;
  };
  return {
    get events() {
      return accepted();
    },
    then: (events) => expect(accepted()).to.deep.equal(events),
    thenNothingHappens: () => expect(accepted()).to.deep.equal([]),
    thenRefused: (code, message) => {
      if (decision.kind !== 'refused') throw new Error(`accepted: ${JSON.stringify(decision.events)}`);
      expect(decision.refusal.code).to.equal(code);
      if (typeof message === 'string') expect(decision.refusal.message).to.contain(message);
      else expect(decision.refusal.message).to.match(message);
    },
  };
}

const plainSpec: SubnetSpec = {
  cidrBlock: '172.17.0.0/16',
  gateway: '172.17.0.1',
  excludeIps: ['172.17.0.0..172.17.0.10'],
  provider: 'macvlan.default',
  protocol: 'IPv4',
  cooldownMs: 60_000,
  bindingTimeoutMs: 3_600_000,
};

/** The documents' subnet, or a variation of it. */
export const subnetConfigured = (name = 'macvlan', spec: Partial<SubnetSpec> = {}): Event => ({
  type: 'SubnetConfigured',
  subnet: name,
  data: { spec: { ...plainSpec, ...spec } },
});

/** A subnet of three addresses: .2, .3 and .4. */
export const smallSubnet = (spec: Partial<SubnetSpec> = {}): Event =>
  subnetConfigured('small', {
    cidrBlock: '10.0.0.0/29',
    gateway: '10.0.0.1',
    excludeIps: ['10.0.0.1', '10.0.0.5..10.0.0.6'],
    provider: 'small.default',
    ...spec,
  });

type Granted = Extract<Event, { type: 'AddressAllocated' }>;

interface Holding {
  readonly uid?: string;
  readonly subnet?: string;
  readonly provider?: string;
  readonly ordinal?: number;
  readonly cause?: Granted['data']['cause'];
  readonly mac?: string;
  readonly interface?: string;
  readonly node?: string;
}

/** `pod` (in namespace default) was given `address` of a /16, or of the small subnet. */
export function allocated(pod: string, address: string, holding: Holding = {}): Granted {
  const { uid = `uid-${pod}`, subnet = 'macvlan', provider = `${subnet}.default`, ordinal = 0 } = holding;
  const [cidr, gateway] = subnet === 'small' ? ['10.0.0.0/29', '10.0.0.1'] : ['172.17.0.0/16', '172.17.0.1'];
  return {
    type: 'AddressAllocated',
    subnet,
    data: {
      attachment: { namespace: 'default', pod, provider, ordinal },
      uid,
      node: holding.node ?? '',
      addresses: [{ address, cidr, gateway }],
      mac: holding.mac ?? '',
      interface: holding.interface ?? '',
      cause: holding.cause ?? 'dynamic',
      routes: [],
    },
  };
}

/** What `allocated` gave was taken back. */
export const released = (
  { subnet, data: { attachment, uid, addresses } }: Granted,
  alloc: number,
  because: { cause?: 'pod-deleted' | 'pod-completed'; evidence?: string } = {},
): Event => ({
  type: 'AddressReleased',
  subnet,
  data: {
    alloc,
    attachment,
    uid,
    addresses: addresses.map(({ address }) => address),
    cause: because.cause ?? 'pod-deleted',
    evidence: because.evidence ?? '',
  },
});

/** What `allocated` gave was passed on to another Pod of the same name. */
export const transferred = (
  { subnet, data }: Granted,
  alloc: number,
  uid: string,
): Extract<Event, { type: 'AddressTransferred' }> => ({
  type: 'AddressTransferred',
  subnet,
  data: { ...data, uid, alloc, fromUid: data.uid },
});

/** A container was told to use what `allocated` or `transferred` gave. */
export const bound = (
  { subnet, data: { attachment, uid, addresses } }: Pick<Granted, 'subnet' | 'data'>,
  alloc: number,
  sandbox: { containerId?: string; interface?: string; node?: string; bootId?: string } = {},
): Event => ({
  type: 'AddressBound',
  subnet,
  data: {
    alloc,
    attachment,
    uid,
    addresses: addresses.map(({ address }) => address),
    containerId: sandbox.containerId ?? 'container-1',
    interface: sandbox.interface ?? 'net1',
    node: sandbox.node ?? 'node-1',
    bootId: sandbox.bootId ?? 'boot-1',
  },
});

/** A container was told to stop using it. */
export const unbound = (
  { subnet, data: { attachment, addresses } }: Granted,
  containerId = 'container-1',
  { interface: name = 'net1', cause = 'container-deleted' }: { interface?: string; cause?: UnbindCause } = {},
): Event => ({
  type: 'AddressUnbound',
  subnet,
  data: { attachment, addresses: addresses.map(({ address }) => address), containerId, interface: name, cause },
});

type Allocate = Untimed<Extract<Command, { type: 'Allocate' }>>;

/** `pod` asks for one attachment, of the /16 unless said otherwise. */
export const allocate = (
  pod: string,
  attachment: Partial<Allocate['attachments'][number]> = {},
  more: Partial<Allocate['pod'] & { deadline: number }> = {},
): Allocate => allocateAll(pod, [attachment], more);

/** `pod` asks for several. */
export function allocateAll(
  pod: string,
  attachments: readonly Partial<Allocate['attachments'][number]>[],
  { deadline, ...more }: Partial<Allocate['pod'] & { deadline: number }> = {},
): Allocate {
  return {
    type: 'Allocate',
    pod: { namespace: 'default', name: pod, uid: `uid-${pod}`, node: '', ...more },
    attachments: attachments.map((attachment) => ({
      provider: 'macvlan.default',
      ordinal: 0,
      interface: '',
      subnets: ['macvlan'],
      candidates: [],
      pool: '',
      ipFamily: '',
      reservation: '',
      mac: '',
      routes: [],
      ...attachment,
    })),
    ...(deadline !== undefined && { deadline }),
  };
}

/** A pool of the /16, or of another subnet. */
export const poolConfigured = (pool: string, ips: readonly string[], subnet = 'macvlan'): Event => ({
  type: 'PoolConfigured',
  subnet,
  data: { pool, spec: { subnet, ips, namespaces: [] } },
});

/** Addresses are held without a Pod. */
export const reserved = (
  reservedFor: string,
  addresses: readonly string[],
  { subnet = 'macvlan', mac = '' }: { subnet?: string; mac?: string } = {},
): Event => ({ type: 'AddressReserved', subnet, data: { addresses, reservedFor, reason: 'kept', mac } });

/** Somebody outside answers on an address. */
export const quarantined = (address: string, subnet = 'macvlan'): Event => ({
  type: 'AddressQuarantined',
  subnet,
  data: { address, seenMac: '52:54:00:00:00:01', seenAt: 'node-1', reason: 'a printer' },
});
