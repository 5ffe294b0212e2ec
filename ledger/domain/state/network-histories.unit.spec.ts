import { expect } from 'chai';
import fc from 'fast-check';
import { decide } from '../decide/decide.ts';
import { describeState } from '../testing/describe-state.ts';
import type { Allocation } from './claim.ts';
import type { Event } from '../events/event.ts';
import { evolve } from './evolve.ts';
import { UndoLog } from './undo-log.ts';
import { networkOf } from './network.ts';
import { findDoubleAllocations } from './claims-on-network.ts';
import { restoreState } from './snapshot.ts';
import { allocateAll } from '../testing/event-fixtures.ts';
import { snapshotOf, startTime, type Untimed } from '../testing/given-when-then.ts';
import { initialState, type State } from './state.ts';

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
    hasTwoNics: fc.boolean(),
  })
  .map(({ pod, uid, provider, subnets, addresses, hasTwoNics }): Untimed => {
    const request = { provider, subnets, candidates: addresses.map((each) => [each]) };
    const requests = hasTwoNics ? [request, { ...request, ordinal: 1, candidates: [] }] : [request];
    return allocateAll(pod, requests, { uid: pod + uid });
  });
const anySandbox = fc.record({
  containerId: fc.constantFrom('c1', 'c2', 'c3', 'c4'),
  interface: fc.constantFrom('net1', 'net2'),
});
/** A command about an allocation in force. */
type CommandAbout = (holder: Allocation) => Untimed;
const anyCommandAbout: fc.Arbitrary<CommandAbout> = fc.oneof(
  fc.constant(({ attachment: { namespace, pod }, uid }: Allocation): Untimed => {
    return { type: 'Release', namespace, pod, uid, cause: 'pod-deleted', evidence: '' };
  }),
  anySandbox.map((sandbox): CommandAbout => ({ attachment: { namespace, pod, provider }, uid }) => {
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
    arbitrary: fc
      .tuple(fc.constantFrom('Quarantine', 'Unquarantine'), anySubnet, anyAddress)
      .map(([type, subnet, address]) => {
        return { type, subnet, address, seenMac: '', seenAt: '', reason: '' };
      }),
  },
);
/** Commands, or commands about an allocation by its index, each with the milliseconds that pass before it. */
const anyHistory = fc.array(
  fc.tuple(
    fc.oneof({ weight: 2, arbitrary: anyCommand }, { weight: 1, arbitrary: fc.tuple(fc.nat(), anyCommandAbout) }),
    fc.constantFrom(0, 0, 1_000, 1_000, cooldownMs, bindingTimeoutMs),
  ),
  { minLength: 20, maxLength: 80, size: 'max' },
);

/** The command of a step; undefined if it is about an allocation and there is none. */
function commandOf(state: State, step: Untimed | [index: number, command: CommandAbout]): Untimed | undefined {
  if (!Array.isArray(step)) return step;
  const held = [...state.pods.after(0)];
  const holder = held[step[0] % held.length];
  return holder && step[1](holder);
}

/** The holder and the containers of one address of one network, from the events alone. */
interface AddressUse {
  holder?: { readonly pod: string; readonly seq: number };
  /** The containers that may answer, by "container/interface": their Pod, and until when (milliseconds since 1970). */
  readonly containers: Map<string, { readonly pod: string; until: number }>;
}

/** Fails at the first event that gives a Pod an address that another Pod holds, or on which its container may answer. */
class Witness {
  readonly #uses = new Map<string, AddressUse>();

  read(event: Event, seq: number, at: number): void {
    if (event.type === 'AddressAllocated' || event.type === 'AddressTransferred') {
      const { attachment, addresses } = event.data;
      for (const { address } of addresses)
        this.#give(this.#useOf(event.subnet, attachment.provider, address), { pod: attachment.pod, seq, at });
    } else if (event.type === 'AddressReleased')
      for (const address of event.data.addresses) {
        const use = this.#useOf(event.subnet, event.data.attachment.provider, address);
        if (use.holder?.seq === event.data.alloc) delete use.holder;
        for (const each of use.containers.values()) each.until = at + bindingTimeoutMs;
      }
    else if (event.type === 'AddressBound' || event.type === 'AddressUnbound')
      for (const address of event.data.addresses) {
        const { attachment, containerId, interface: name } = event.data;
        const use = this.#useOf(event.subnet, attachment.provider, address);
        if (event.type === 'AddressUnbound') use.containers.delete(`${containerId}/${name}`);
        else use.containers.set(`${containerId}/${name}`, { pod: attachment.pod, until: Infinity });
      }
  }

  #give(use: AddressUse, { pod, seq, at }: { pod: string; seq: number; at: number }): void {
    expect(use.holder?.pod ?? pod, 'another Pod holds it').to.equal(pod);
    for (const [sandbox, { pod: user, until }] of use.containers)
      if (until <= at) use.containers.delete(sandbox);
      else expect(user, `of container ${sandbox}, which may answer`).to.equal(pod);
    use.holder = { pod, seq };
  }

  #useOf(subnet: string, provider: string, address: string): AddressUse {
    const key = `${networkOf(provider, subnet)} ${address}`;
    const use = this.#uses.get(key) ?? { containers: new Map() };
    this.#uses.set(key, use);
    return use;
  }
}

describe('Random histories of Subnets that are created, retired, moved, overlap and change provider', () => {
  it('never give an address of a network to two Pods, or to a Pod while a container of another Pod may answer on it', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const state: State = initialState();
        const witness = new Witness();
        let [seq, now] = [0, startTime];
        for (const name of ['lan', 'overlay'])
          evolve(state, { ...networkSubnet(name), seq: ++seq, at: now }, new UndoLog());
        for (const [step, afterMs] of history) {
          now += afterMs;
          const untimed = commandOf(state, step);
          const decision = untimed && decide(state, { ...untimed, now });
          if (decision?.kind !== 'accepted') continue;
          for (const event of decision.events) {
            evolve(state, { ...event, seq: ++seq, at: now }, new UndoLog());
            witness.read(event, seq, now);
          }
          expect(findDoubleAllocations(state)).to.deep.equal([]);
        }
        expect(describeState(restoreState(snapshotOf(state)))).to.deep.equal(describeState(state));
      }),
      { numRuns: 100 },
    );
  });

  it('can be checked by findDoubleAllocations, which finds two Pods that hold an address of one network', () => {
    const state = initialState();
    const [lan, overlay] = ['lan', 'overlay'].map((name) => networkSubnet(name)) as [Event, Event];
    const held = (pod: string, subnet: string) =>
      decideOf(state, allocateAll(pod, [{ provider: 'net1.default', subnets: [subnet], candidates: [['10.0.0.2']] }]));
    let seq = 0;
    const apply = (event: Event): void => evolve(state, { ...event, seq: ++seq, at: startTime }, new UndoLog());
    apply(lan);
    const [first] = held('first', 'lan');
    apply(overlay);
    const [second] = held('second', 'overlay');
    for (const event of [first, second]) if (event) apply(event);
    const found = findDoubleAllocations(state).map(({ network, address, holders }) => [
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
  const decision = decide(state, { ...untimed, now: startTime });
  if (decision.kind === 'refused') throw new Error(decision.refusal.message);
  return decision.events;
}
