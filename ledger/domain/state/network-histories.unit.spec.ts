import { expect } from 'chai';
import fc from 'fast-check';
import { type Decision, decide } from '../decide/decide.ts';
import { describeState } from '../testing/describe-state.ts';
import type { Allocation } from './claim.ts';
import type { Event } from '../events/event.ts';
import { evolve } from '../events/registry.ts';
import { UndoLog } from './undo-log.ts';
import { findDoubleAllocations } from './claims-on-network.ts';
import { restoreState } from './snapshot.ts';
import { noBindingTimeoutMs } from '../commands/command.ts';
import { allocateAll } from '../testing/event-fixtures.ts';
import { HolderWitness } from '../testing/holder-witness.ts';
import { snapshotOf, startTime, type Untimed } from '../testing/given-when-then.ts';
import { initialState, type State } from './state.ts';

const cooldownMs = 60_000;
const bindingTimeoutMs = 3_600_000;
const anyPod = fc.constantFrom('a', 'b', 'c', 'd');
/** Uids of successive Pods of one name. Requests with earlier uids are late. */
const anyUid = fc.constantFrom('1', '2', '3', '4', '5', '6');
const anyMac = fc.constantFrom('02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03');
const anySubnet = fc.constantFrom('lan', 'lan2', 'overlay', 'overlay2');
const anyProvider = fc.constantFrom('net1.default', 'net2.default', 'ovn', 'nic.default.ovn');
const addresses = ['10.0.0.2', '10.0.0.3', '10.0.0.5', '10.0.0.6', '10.0.0.10'];
const anyAddress = fc.constantFrom(...addresses);

const anyAllocate = fc
  .record({
    pod: anyPod,
    uid: anyUid,
    provider: anyProvider,
    subnets: fc.uniqueArray(anySubnet, { minLength: 1, maxLength: 2 }),
    addresses: fc.array(anyAddress, { maxLength: 2 }),
    mac: fc.oneof(fc.constant({}), fc.constant({ macSeed: 1 }), fc.record({ mac: anyMac })),
    hasTwoNics: fc.boolean(),
  })
  .map(({ pod, uid, provider, subnets, addresses, mac, hasTwoNics }): Untimed => {
    const request = { provider, subnets, candidates: addresses.map((each) => [each]), ...mac };
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
  fc
    .constantFrom('pod-deleted', 'pod-deleted', 'operator')
    .map((cause): CommandAbout => ({ attachment: { namespace, pod }, uid }) => ({
      type: 'Release',
      namespace,
      pod,
      uid,
      cause,
      evidence: '',
    })),
  fc
    .tuple(anySandbox, fc.constantFrom('node-1', 'node-2'))
    .map(([sandbox, node]): CommandAbout => ({ attachment: { namespace, pod, provider }, uid }) => ({
      type: 'Bind',
      namespace,
      pod,
      uid,
      provider,
      ...sandbox,
      node,
      bootId: 'boot-1',
    })),
);
const anyApply = fc
  .tuple(anySubnet, anyProvider, fc.constantFrom('10.0.0.0/29', '10.0.0.0/28', '10.0.0.8/29', '10.0.0.4/30'))
  .map(([name, provider, cidrBlock]): Untimed => {
    const spec = { cidrBlock, gateway: '', excludeIps: [], provider, protocol: '', cooldownMs, bindingTimeoutMs };
    return { type: 'ApplySubnet', name, spec };
  });
/** A request whose position is some events old, or absent. */
type LateRequest = Extract<Untimed, { type: 'Allocate' }> & { readonly lag: number | undefined };
const anyLateRequest = fc
  .tuple(anyAllocate, fc.constantFrom(undefined, 0, 0, 1, 3, 10))
  .map(([command, lag]): Untimed => ({ ...command, lag }) as LateRequest);
const anyOwner = fc.oneof(
  fc.constant('vip/printer'),
  fc.tuple(anyPod, anyProvider).map(([pod, provider]) => `pod/default/${pod}/${provider}`),
);
const anyReservation = fc.oneof(
  fc
    .record({ subnet: anySubnet, address: anyAddress, reservedFor: anyOwner, mac: fc.oneof(fc.constant(''), anyMac) })
    .map(({ address, ...more }): Untimed => ({
      type: 'Reserve',
      addresses: [address],
      reason: 'r',
      ipFamily: '',
      ...more,
    })),
  fc
    .record({ subnet: anySubnet, reservedFor: anyOwner })
    .map((each): Untimed => ({ type: 'Unreserve', addresses: [], reason: 'r', ...each })),
);
const anyCommand: fc.Arbitrary<Untimed> = fc.oneof(
  { weight: 6, arbitrary: anyLateRequest },
  { weight: 2, arbitrary: anyReservation },
  {
    weight: 1,
    arbitrary: anySandbox.map((each): Untimed => ({ type: 'Unbind', ...each, cause: 'container-deleted' })),
  },
  { weight: 4, arbitrary: anyApply },
  { weight: 2, arbitrary: anySubnet.map((name): Untimed => ({ type: 'RetireSubnet', name })) },
  {
    weight: 1,
    arbitrary: anySubnet.map((subnet): Untimed => ({ type: 'DropClaims', subnet, addresses })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('Quarantine', 'Unquarantine'), anySubnet, anyAddress)
      .map(([type, subnet, address]) => {
        return { type, subnet, address, seenMac: '', seenAt: '', reason: '' };
      }),
  },
);
/** A new writer whose clock differs from the real time. Ledger time never goes back. */
interface Restart {
  readonly skewMs: number;
}
type Step = Untimed | Restart | [index: number, command: CommandAbout];
/**
 * Commands, commands about an allocation (by its index), and restarts from the keys. Each has the
 * milliseconds that pass before it.
 */
const anyHistory = fc.array(
  fc.tuple(
    fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
      { weight: 20, arbitrary: anyCommand },
      { weight: 10, arbitrary: fc.tuple(fc.nat(), anyCommandAbout) },
      { weight: 1, arbitrary: fc.record({ skewMs: fc.constantFrom(-30_000, 0, 30_000) }) },
    ),
    fc.constantFrom(0, 0, 1_000, 1_000, cooldownMs, bindingTimeoutMs),
  ),
  { minLength: 20, maxLength: 80, size: 'max' },
);
/** A little less than the mean number of commands in a history. */
const commandsPerHistory = 40;
/** `make domain-histories` sets a million. */
const commands = Number(process.env['HISTORY_COMMANDS'] ?? 5_000);

/** The command of a step; undefined if the step needs an allocation and none exists. */
function commandOf(state: State, step: Exclude<Step, Restart>, seq: number): Untimed | undefined {
  if (!Array.isArray(step)) {
    if (!('lag' in step)) return step;
    const { lag, ...command } = step as LateRequest;
    return lag === undefined ? command : { ...command, seenSeq: Math.max(seq - lag, 1) };
  }
  const held = [...state.pods.after(0)];
  const holder = held[step[0] % held.length];
  return holder && step[1](holder);
}

describe(`Random histories of ${commands} commands: generations of names, late requests, MACs, reservations, restarts, clocks, and Subnets that change`, function () {
  this.timeout(commands * 100);

  it('Random histories allocate no address or MAC of a network to two Pods, or that another Pod may use or has reserved, and nothing to an ended or earlier Pod', () => {
    fc.assert(
      fc.property(anyHistory, fc.constantFrom(bindingTimeoutMs, noBindingTimeoutMs), (history, timeoutMs) => {
        let state: State = initialState();
        const witness = new HolderWitness(timeoutMs);
        let [seq, now] = [0, startTime];
        let [realTime, skewMs] = [startTime, 0];
        for (const name of ['lan', 'overlay'])
          evolve(state, { ...networkSubnet(name, timeoutMs), seq: ++seq, at: now }, new UndoLog());
        for (const [step, afterMs] of history) {
          realTime += afterMs;
          if ('skewMs' in step) ({ skewMs } = step);
          now = Math.max(now, realTime + skewMs);
          if ('skewMs' in step) state = restoreState(snapshotOf(state));
          const command = 'skewMs' in step ? undefined : commandOf(state, step, seq);
          const untimed = command && withTimeout(command, timeoutMs);
          const decision = untimed && decide(state, { ...untimed, now });
          if (untimed?.type === 'Allocate' && witness.hasEnded(untimed.pod.name, untimed.pod.uid))
            expect(decision, 'a late request').to.satisfy(changesNothing);
          if (untimed?.type === 'Allocate' && witness.hasLater(untimed.pod, untimed.seenSeq))
            expect(decision, 'an outdated request').to.satisfy(changesNothing);
          if (decision?.kind !== 'accepted') continue;
          for (const event of decision.events) {
            evolve(state, { ...event, seq: ++seq, at: now }, new UndoLog());
            witness.read(event, seq, now);
          }
          expect(findDoubleAllocations(state)).to.deep.equal([]);
        }
        expect(describeState(restoreState(snapshotOf(state)))).to.deep.equal(describeState(state));
      }),
      { numRuns: Math.ceil(commands / commandsPerHistory) },
    );
  });

  it('findDoubleAllocations finds two Pods that hold one address of a network', () => {
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

/** Whether a request changes nothing. An ended Pod with another NIC's address is refused. */
const changesNothing = (decision: Decision): boolean =>
  decision.kind === 'refused'
    ? ['POD_SUPERSEDED', 'REQUEST_OUTDATED'].includes(decision.refusal.code)
    : decision.events.length === 0;

/** Sets a binding timeout: all Subnets of a history have the same. */
const withTimeout = (command: Untimed, timeoutMs: number): Untimed =>
  command.type === 'ApplySubnet' ? { ...command, spec: { ...command.spec, bindingTimeoutMs: timeoutMs } } : command;

const networkSubnet = (name: string, timeoutMs: number = bindingTimeoutMs): Event => ({
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
      bindingTimeoutMs: timeoutMs,
    },
  },
});

function decideOf(state: State, untimed: Untimed): readonly Event[] {
  const decision = decide(state, { ...untimed, now: startTime });
  if (decision.kind === 'refused') throw new Error(decision.refusal.message);
  return decision.events;
}
