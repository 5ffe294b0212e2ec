/** Ipam.Wait: until what a sandbox needs is allocated, woken by the event; or why it is not. */
import { pause } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Sandbox } from '../domain/command.ts';
import { allocationForSandbox, refuseOtherNode } from '../domain/decide/bind.ts';
import { type BoundAllocation, withBindings } from '../domain/questions.ts';
import { heldBy, type State } from '../domain/state.ts';
import { type Allocator, question } from './allocator.ts';
import { allocationMessage, positionOf } from './messages.ts';
import { readSandbox } from './read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import type { Waiting } from './waiting.ts';

const usualWaitMs = 20_000;
const mostWaitMs = 60_000;
/** A Subnet may be created together with its Pod; for one that is missing nobody waits longer than this. */
const unboundGraceMs = 2_000;

/**
 * The messages leave out Pod and provider: the caller has named them.
 * @throws IpledgerError PROVIDER_UNBOUND; NOT_REQUESTED when the allocator has had no request for it; NOT_ALLOCATED with why, as
 * far as the ledger knows; PERMISSION_DENIED for another node's Pod
 */
export async function wait(allocator: Allocator, waiting: Waiting, request: api.WaitRequest, context: CallContext) {
  const sandbox = readSandbox(request);
  const timeoutMs = Math.min(request.timeoutMs || usualWaitMs, mostWaitMs);
  const startedAt = performance.now();
  for (;;) {
    const turn = new AbortController();
    const leftMs = startedAt + timeoutMs - performance.now();
    // Listening before looking: what is committed in between is not missed.
    const rung = waiting.nextEvent(sandbox.namespace, sandbox.pod, AbortSignal.any([turn.signal, context.signal]));
    try {
      const { answer, head } = await question(allocator, context, (state) => lookFor(state, sandbox, context.ownNode));
      if (answer.allocation) return { position: positionOf(head), allocation: allocationMessage(answer.allocation) };
      if (answer.others.length > 0) throw allOthers(sandbox, answer.others);
      const patienceMs = answer.bound ? leftMs : Math.min(leftMs, startedAt + unboundGraceMs - performance.now());
      if (patienceMs <= 0 || context.signal.aborted) throw nothingCame(sandbox, answer, waiting, timeoutMs);
      await Promise.race([rung, pause(patienceMs, turn.signal)]);
    } finally {
      turn.abort();
    }
  }
}

interface Seen {
  readonly allocation: BoundAllocation | undefined;
  /** Whether some subnet has the provider. */
  readonly bound: boolean;
  /** Interfaces of what this uid holds of the provider: all of them are set up under other names. */
  readonly others: readonly string[];
  /** Another Pod of the same name, if one holds something of the provider. */
  readonly namesakeUid: string | undefined;
}

/** @throws Refused PERMISSION_DENIED */
function lookFor(state: State, sandbox: Sandbox, ownNode: string | undefined): Seen {
  const { namespace, pod, provider } = sandbox;
  const allocation = allocationForSandbox(state, sandbox);
  const held = heldBy(state, namespace, pod).filter(({ attachment }) => attachment.provider === provider);
  const namesake = held.find(({ uid }) => uid !== sandbox.uid);
  const own = held.filter(({ uid }) => uid === sandbox.uid);
  for (const each of allocation ? [allocation] : own) refuseOtherNode(each, ownNode);
  const others = allocation ? [] : own.map((other) => other.interface);
  // '' and 'ovn' are the primary network's: whatever serves it is found by the Pod's annotations.
  const bound = provider === '' || provider === 'ovn' || providersOf(state).has(provider);
  return { allocation: allocation && withBindings(state, allocation), bound, others, namesakeUid: namesake?.uid };
}

/** The Pod has all that it wants of this network, on other interfaces: waiting would bring nothing. */
const allOthers = ({ interface: wanted }: Sandbox, others: readonly string[]): IpledgerError =>
  new IpledgerError(
    'NOT_ALLOCATED',
    `no attachment is left for interface ${wanted}: those of the Pod are set up as ${others.join(', ')}. Name the network once more in the Pod's networks annotation`,
  );

const providersOf = (state: State): Set<string> =>
  new Set([...state.subnets.values()].map(({ subnet }) => subnet.spec.provider));

function nothingCame(
  { uid, provider }: Sandbox,
  { bound, namesakeUid }: Seen,
  waiting: Waiting,
  timeoutMs: number,
): IpledgerError {
  const refusal = waiting.refusalOf(uid);
  if (refusal) return new IpledgerError('NOT_ALLOCATED', `refused at ${refusal.at}: ${refusal.message}`);
  if (!bound) return new IpledgerError('PROVIDER_UNBOUND', `provider ${provider} is not bound to any subnet`);
  if (namesakeUid !== undefined && namesakeUid !== uid)
    return new IpledgerError(
      'NOT_ALLOCATED',
      `the address belongs to uid ${namesakeUid}, and this call is for uid ${uid}: the Pod was re-created under its name`,
    );
  return new IpledgerError(
    'NOT_REQUESTED',
    `pod-watcher has requested no address within ${timeoutMs} ms. Check that pod-watcher runs, and that the Pod's networks annotation names this network`,
  );
}
