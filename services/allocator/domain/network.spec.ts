import { expect } from 'chai';
import fc from 'fast-check';
import { decide } from './decide.ts';
import { describeState } from './describe.ts';
import type { Allocation } from './claim.ts';
import type { Event } from './event.ts';
import { evolve } from './evolve.ts';
import { Journal } from './journal.ts';
import { networkOf } from './network.ts';
import { heldTwice } from './on-network.ts';
import { restore } from './restore.ts';
import { allocateAll, snapshotOf, start, type Untimed } from './specification.ts';
import { initialState, type State } from './state.ts';

describe('The network of a NIC', () => {
  for (const [provider, subnet, network] of [
    ['lan.default', 'lan', 'lan.default'],
    ['lan.default', 'overlay', 'lan.default'],
    ['ovn', 'overlay', 'switch/overlay'],
    ['nic.default.ovn', 'overlay', 'switch/overlay'],
    // A NetworkAttachmentDefinition in a namespace that is called ovn.
    ['lan.ovn', 'lan', 'lan.ovn'],
  ] as const)
    it(`of provider ${provider} with an address of subnet ${subnet} is ${network}`, () => {
      expect(networkOf(provider, subnet)).to.equal(network);
    });
});

const cooldownMs = 60_000;
const bindingTimeoutMs = 3_600_000;
const anyPod = fc.constantFrom('a', 'b', 'c', 'd');
const anyUid = fc.constantFrom('1', '2', '3');
const anySubnet = fc.constantFrom('lan', 'lan2', 'overlay', 'overlay2');
const anyProvider = fc.constantFrom('net1.default', 'net2.default', 'ovn', 'nic.default.ovn');
const anyAddress = fc.constantFrom('10.0.0.2', '10.0.0.3', '10.0.0.5', '10.0.0.6', '10.0.0.10');

const anyAllocate = fc
  .record({
    pod: anyPod,
    uid: anyUid,
    provider: anyProvider,
    subnets: fc.uniqueArray(anySubnet, { minLength: 1, maxLength: 2 }),
    addresses: fc.array(anyAddress, { maxLength: 2 }),
    twice: fc.boolean(),
  })
  .map(({ pod, uid, provider, subnets, addresses, twice }): Untimed => {
    const request = { provider, subnets, candidates: addresses.map((each) => [each]) };
    const requests = twice ? [request, { ...request, ordinal: 1, candidates: [] }] : [request];
    return allocateAll(pod, requests, { uid: pod + uid });
  });
const anySandbox = fc.record({
  containerId: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
  interface: fc.constantFrom('net1', 'net2'),
});
/** A command about one of the allocations in force, by its place among them. */
type OfHolder = (holder: Allocation) => Untimed;
const anyOfHolder: fc.Arbitrary<OfHolder> = fc.oneof(
  fc.constant(({ attachment: { namespace, pod }, uid }: Allocation): Untimed => {
    return { type: 'Release', namespace, pod, uid, cause: 'pod-deleted', evidence: '' };
  }),
  anySandbox.map((sandbox): OfHolder => ({ attachment: { namespace, pod, provider }, uid }) => {
    const where = { node: `node-of-${pod}`, bootId: 'boot-1' };
    return { type: 'Bind', namespace, pod, uid, provider, ...sandbox, ...where };
  }),
);
const anyApply = fc
  .tuple(anySubnet, anyProvider, fc.constantFrom('10.0.0.0/29', '10.0.0.0/28', '10.0.0.8/29', '10.0.0.4/30'))
  .map(([name, provider, cidrBlock]): Untimed => {
    const spec = { cidrBlock, gateway: '', excludeIps: [], provider, protocol: '', cooldownMs, bindingTimeoutMs };
    return { type: 'ApplySubnet', name, spec };
  });
const anyCommand: fc.Arbitrary<Untimed> = fc.oneof(
  { weight: 6, arbitrary: anyAllocate },
  {
    weight: 1,
    arbitrary: anySandbox.map((each): Untimed => ({ type: 'Unbind', ...each, cause: 'container-deleted' })),
  },
  { weight: 4, arbitrary: anyApply },
  { weight: 2, arbitrary: anySubnet.map((name): Untimed => ({ type: 'RetireSubnet', name })) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('Quarantine', 'Lift'), anySubnet, anyAddress).map(([type, subnet, address]) => {
      return { type, subnet, address, seenMac: '', seenAt: '', reason: '' };
    }),
  },
);
/** Commands, or what is done with one of those that hold something, with the milliseconds that pass before each. */
const anyHistory = fc.array(
  fc.tuple(
    fc.oneof({ weight: 2, arbitrary: anyCommand }, { weight: 1, arbitrary: fc.tuple(fc.nat(), anyOfHolder) }),
    fc.constantFrom(0, 0, 1_000, 1_000, cooldownMs, bindingTimeoutMs),
  ),
  { minLength: 20, maxLength: 80, size: 'max' },
);

/** undefined while no Pod holds anything. */
function commandOf(state: State, step: Untimed | [place: number, does: OfHolder]): Untimed | undefined {
  if (!Array.isArray(step)) return step;
  const held = [...state.pods.values()].flatMap((each) => [...each.values()]);
  const holder = held[step[0] % held.length];
  return holder && step[1](holder);
}

/** What the events say of one address of one network, told without the state. */
interface Told {
  holder?: { readonly pod: string; readonly seq: number };
  /** Until when a container may answer, milliseconds since 1970, by "container/interface"; and whose it is. */
  readonly answering: Map<string, { readonly pod: string; until: number }>;
}

/** Reads events one by one, and fails at the first that gives what another Pod has or may answer on. */
class Witness {
  readonly #told = new Map<string, Told>();

  read(event: Event, seq: number, at: number): void {
    if (event.type === 'AddressAllocated' || event.type === 'AddressTransferred') {
      const { attachment, addresses } = event.data;
      for (const { address } of addresses)
        this.#given(this.#of(event.subnet, attachment.provider, address), { pod: attachment.pod, seq, at });
    } else if (event.type === 'AddressReleased')
      for (const address of event.data.addresses) {
        const told = this.#of(event.subnet, event.data.attachment.provider, address);
        if (told.holder?.seq === event.data.alloc) delete told.holder;
        for (const each of told.answering.values()) each.until = at + bindingTimeoutMs;
      }
    else if (event.type === 'AddressBound' || event.type === 'AddressUnbound')
      for (const address of event.data.addresses) {
        const { attachment, containerId, interface: name } = event.data;
        const told = this.#of(event.subnet, attachment.provider, address);
        if (event.type === 'AddressUnbound') told.answering.delete(`${containerId}/${name}`);
        else told.answering.set(`${containerId}/${name}`, { pod: attachment.pod, until: Infinity });
      }
  }

  #given(told: Told, { pod, seq, at }: { pod: string; seq: number; at: number }): void {
    expect(told.holder?.pod ?? pod, 'another Pod holds it').to.equal(pod);
    for (const [sandbox, { pod: whose, until }] of told.answering)
      if (until <= at) told.answering.delete(sandbox);
      else expect(whose, `of container ${sandbox}, which may answer`).to.equal(pod);
    told.holder = { pod, seq };
  }

  #of(subnet: string, provider: string, address: string): Told {
    const key = `${networkOf(provider, subnet)} ${address}`;
    const told = this.#told.get(key) ?? { answering: new Map() };
    this.#told.set(key, told);
    return told;
  }
}

describe('Of random histories of subnets that come, go, move, overlap and change their provider', () => {
  it('no network ever has an address with two holders, or one on which another Pod’s container may answer', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const state: State = initialState();
        const witness = new Witness();
        let [seq, now] = [0, start];
        for (const name of ['lan', 'overlay'])
          evolve(state, { ...networkSubnet(name), seq: ++seq, at: now }, new Journal());
        for (const [step, afterMs] of history) {
          now += afterMs;
          const untimed = commandOf(state, step);
          const decision = untimed && decide(state, { ...untimed, now });
          if (decision?.kind !== 'accepted') continue;
          for (const event of decision.events) {
            evolve(state, { ...event, seq: ++seq, at: now }, new Journal());
            witness.read(event, seq, now);
          }
          expect(heldTwice(state)).to.deep.equal([]);
        }
        expect(describeState(restore(snapshotOf(state)))).to.deep.equal(describeState(state));
      }),
      { numRuns: 100 },
    );
  });

  it('two Pods that hold an address of one network are found, however that came about', () => {
    const state = initialState();
    const [lan, overlay] = ['lan', 'overlay'].map((name) => networkSubnet(name)) as [Event, Event];
    const held = (pod: string, subnet: string) =>
      decideOf(state, allocateAll(pod, [{ provider: 'net1.default', subnets: [subnet], candidates: [['10.0.0.2']] }]));
    let seq = 0;
    const apply = (event: Event): void => evolve(state, { ...event, seq: ++seq, at: start }, new Journal());
    apply(lan);
    const [first] = held('first', 'lan');
    apply(overlay);
    const [second] = held('second', 'overlay');
    for (const event of [first, second]) if (event) apply(event);
    const found = heldTwice(state).map(({ network, address, holders }) => [
      network,
      address,
      ...holders.map(({ subnet, attachment }) => `${subnet}/${attachment.pod}`),
    ]);
    expect(found).to.deep.equal([['net1.default', '10.0.0.2', 'lan/first', 'overlay/second']]);
  });
});

const networkSubnet = (name: string): Event => ({
  type: 'SubnetConfigured',
  subnet: name,
  data: {
    spec: {
      cidrBlock: '10.0.0.0/29',
      gateway: '10.0.0.1',
      excludeIps: ['10.0.0.1'],
      provider: name === 'lan' ? 'net1.default' : 'ovn',
      protocol: 'IPv4',
      cooldownMs,
      bindingTimeoutMs,
    },
  },
});

function decideOf(state: State, untimed: Untimed): readonly Event[] {
  const decision = decide(state, { ...untimed, now: start });
  if (decision.kind === 'refused') throw new Error(decision.refusal.message);
  return decision.events;
}
