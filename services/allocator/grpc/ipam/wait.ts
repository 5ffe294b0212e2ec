/**
 * Ipam.Wait: waits until the attachment of a sandbox has an allocation, or fails with the reason.
 */
import { pause } from '../../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import { allocationAttributes, podAttributes } from '../../../../lib/tracing/span.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { meaningOf } from '../../../../ledger/domain/commands/refusal.ts';
import type { Sandbox } from '../../../../ledger/domain/commands/command.ts';
import { allocationForSandbox, refuseOtherNode } from '../../../../ledger/domain/decide/bind.ts';
import { isProbed } from '../../../../ledger/domain/decide/report-conflict.ts';
import { type BoundAllocation, withBindings } from '../../../../ledger/domain/queries/queries.ts';
import { allocationsOfPodName, type State } from '../../../../ledger/domain/state/state.ts';
import { notWritable } from '../../health/write-obstacles.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { refusalVisibleTo, visibleTo } from '../agent-view.ts';
import { runQuery } from '../run-query.ts';
import { allocationMessage, positionMessage } from '../messages.ts';
import { readSandbox } from '../read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { LastRefusal, PodWaiters } from './pod-waiters.ts';

/** The wait of a request without `timeout_ms`. */
export const defaultWaitMs = 20_000;
const maxWaitMs = 60_000;
/** How long a call waits for a missing Subnet, which may be created together with the Pod. */
const unboundGraceMs = 2_000;

/**
 * Waits for an allocation. Messages do not repeat the Pod and provider of the request.
 * @throws IpledgerError PROVIDER_UNBOUND; NOT_REQUESTED if the allocator has received no Allocate
 * for the attachment; NOT_ALLOCATED with the refusal in the ledger, immediately if waiting cannot
 * help; LEDGER_NOT_WRITABLE; PERMISSION_DENIED for a Pod of another node
 */
export async function waitForAllocation(
  allocator: AllocatorContext,
  waiters: PodWaiters,
  request: api.WaitRequest,
  context: CallContext,
) {
  const sandbox = readSandbox(request);
  context.span?.set(podAttributes({ ...sandbox, name: sandbox.pod }));
  const timeoutMs = Math.min(request.timeoutMs || defaultWaitMs, maxWaitMs);
  const startedAt = performance.now();
  for (;;) {
    const round = new AbortController();
    const leftMs = startedAt + timeoutMs - performance.now();
    // Subscribe before the query, so that an event in between is not missed.
    const nextEvent = waiters.nextEvent(
      sandbox.namespace,
      sandbox.pod,
      AbortSignal.any([round.signal, context.signal]),
    );
    try {
      const { answer, head } = await runQuery(allocator, context, (state) =>
        findAllocation(state, sandbox, context.ownNode),
      );
      if (answer.allocation) {
        context.span?.set(allocationAttributes([answer.allocation]));
        return {
          position: positionMessage(head),
          allocation: allocationMessage(visibleTo(context, answer.allocation)),
          probeAddresses: answer.probeAddresses,
        };
      }
      if (answer.others.length > 0) throw noAttachmentLeft(sandbox, answer.others);
      const refusal = waiters.lastRefusalOf(sandbox);
      if (refusal && meaningOf(refusal.reason).allocate === 'final') throw refused(refusal, context);
      const maxPauseMs = answer.hasSubnet ? leftMs : Math.min(leftMs, startedAt + unboundGraceMs - performance.now());
      if (maxPauseMs <= 0 || context.signal.aborted)
        throw await explainTimeout(sandbox, answer, { allocator, waiters, context, timeoutMs });
      await Promise.race([nextEvent, pause(maxPauseMs, round.signal)]);
    } finally {
      round.abort();
    }
  }
}

interface SandboxView {
  readonly allocation: BoundAllocation | undefined;
  readonly probeAddresses: boolean;
  /** Whether a Subnet serves the provider. */
  readonly hasSubnet: boolean;
  /** The other interfaces of this Pod uid on the provider. */
  readonly others: readonly string[];
  /** The uid of another Pod of the same name that has an allocation of the provider. */
  readonly otherUid: string | undefined;
  /** Whether this Pod uid has allocations of other providers. */
  readonly hasOtherProviders: boolean;
}

/** @throws Refused PERMISSION_DENIED */
function findAllocation(state: State, sandbox: Sandbox, ownNode: string | undefined): SandboxView {
  const { namespace, pod, provider } = sandbox;
  const allocation = allocationForSandbox(state, sandbox);
  const all = allocationsOfPodName(state, namespace, pod);
  const held = all.filter(({ attachment }) => attachment.provider === provider);
  const otherPod = held.find(({ uid }) => uid !== sandbox.uid);
  const own = held.filter(({ uid }) => uid === sandbox.uid);
  for (const each of allocation ? [allocation] : own) refuseOtherNode(each, ownNode);
  const others = allocation ? [] : own.map((other) => other.interface);
  const hasSubnet = allocation !== undefined || isPrimary(provider) || isServed(state, provider);
  return {
    allocation: allocation && withBindings(state, allocation),
    probeAddresses: allocation !== undefined && isProbed(state, allocation),
    hasSubnet,
    others,
    otherUid: otherPod?.uid,
    hasOtherProviders: all.some(({ uid, attachment }) => uid === sandbox.uid && attachment.provider !== provider),
  };
}

/** Whether a provider is the primary network. Annotations of Pod or namespace name its Subnet. */
const isPrimary = (provider: string): boolean => provider === '' || provider === 'ovn';

/** The error if all attachments of the Pod have other interfaces: no event would end the wait. */
const noAttachmentLeft = ({ interface: name }: Sandbox, others: readonly string[]): IpledgerError =>
  new IpledgerError(
    'NOT_ALLOCATED',
    `no attachment is left for interface ${name}: those of the Pod are set up as ${others.join(', ')}. Name the network once more in the Pod's networks annotation`,
  );

function isServed(state: State, provider: string): boolean {
  for (const { subnet } of state.subnets.values()) if (subnet.spec.provider === provider) return true;
  return false;
}

const refused = (refusal: LastRefusal, context: CallContext): IpledgerError =>
  new IpledgerError('NOT_ALLOCATED', `refused at ${refusal.at}: ${refusalVisibleTo(context, refusal)}`);

interface WaitCircumstances {
  readonly allocator: AllocatorContext;
  readonly waiters: PodWaiters;
  readonly context: CallContext;
  readonly timeoutMs: number;
}

/**
 * Explains a timeout. If nothing can be written, that is the reason: an earlier refusal may be
 * outdated, and the pod-watcher is not the cause.
 */
async function explainTimeout(
  sandbox: Sandbox,
  { hasSubnet, otherUid, hasOtherProviders }: SandboxView,
  { allocator, waiters, context, timeoutMs }: WaitCircumstances,
): Promise<IpledgerError> {
  const { uid, provider } = sandbox;
  const obstacle = await allocator.findWriteObstacle();
  if (obstacle) return notWritable(obstacle);
  const refusal = waiters.lastRefusalOf(sandbox);
  if (refusal) return refused(refusal, context);
  if (!hasSubnet) return new IpledgerError('PROVIDER_UNBOUND', `provider ${provider} is not bound to any subnet`);
  if (otherUid !== undefined && otherUid !== uid)
    return new IpledgerError(
      'NOT_ALLOCATED',
      `the address belongs to ${context.ownNode === undefined ? `uid ${otherUid}` : 'another uid'}, and this call is for uid ${uid}: the Pod was re-created under its name`,
    );
  const isNamed = isPrimary(provider)
    ? 'the Pod or its namespace names a Subnet or an IPPool of provider ovn'
    : "the Pod's networks annotation names this network";
  const within = `within ${Math.round(timeoutMs / 100) / 10} s`;
  return new IpledgerError(
    'NOT_REQUESTED',
    hasOtherProviders
      ? `pod-watcher has requested no address of this network ${within}, but others for the Pod. Check that ${isNamed}`
      : `pod-watcher has requested no address ${within}. Check that pod-watcher runs, and that ${isNamed}`,
  );
}
