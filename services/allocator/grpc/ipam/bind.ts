/** Ipam.Attach, Ipam.Bind, Ipam.Unbind and Ipam.ReportConflict: record CNI ADD and DEL. */
import { IpledgerError } from '../../../../lib/errors.ts';
import { requireField } from '../../../../lib/grpc/server/read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import { allocationAttributes, podAttributes } from '../../../../lib/tracing/span.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { allocationForSandbox } from '../../../../ledger/domain/decide/bind.ts';
import { isProbed } from '../../../../ledger/domain/decide/report-conflict.ts';
import { withBindings } from '../../../../ledger/domain/queries/queries.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { visibleTo } from '../agent-view.ts';
import { allocationMessage, positionMessage, readUnbindCause } from '../messages.ts';
import { readAddress, readName, readObjectName, readPrintable, readRequired, readSandbox } from '../read-request.ts';
import { submitCommand } from '../run-query.ts';
import type { PodWaiters } from './pod-waiters.ts';
import { refuseUnknownEvent } from './seen-event.ts';
import { defaultWaitMs, waitForAllocation } from './wait.ts';

/**
 * Binds the allocation of a sandbox. Waits for the allocation if it does not exist yet. A standby
 * waits itself, and forwards the call when the allocation exists.
 * @throws IpledgerError as `waitForAllocation` and `bind`; CANCELLED if the caller disconnects
 * before the Bind: nothing is bound
 */
export async function attach(
  allocator: AllocatorContext,
  waiters: PodWaiters,
  request: api.AttachRequest,
  context: CallContext,
) {
  const sandbox = readSandbox(request);
  requireField('node', request.node);
  // Saves a query in most calls. A restart or a release can make this wrong, but the Bind decides.
  if (!allocationForSandbox(allocator.replica.state, sandbox)) {
    const remainingMs = (request.timeoutMs || defaultWaitMs) - (context.elapsedMs?.() ?? 0);
    const timeoutMs = Math.max(1, Math.round(remainingMs));
    await waitForAllocation(allocator, waiters, { ...request, timeoutMs }, context);
    if (context.signal.aborted) throw new IpledgerError('CANCELLED', 'the caller has disconnected');
  }
  return bind(allocator, request, context);
}

/** Restricts an agent to bindings on its own node. */
const onlyNode = ({ ownNode }: CallContext): { readonly onlyNode?: string } =>
  ownNode === undefined ? {} : { onlyNode: ownNode };

/** Callers that are people. Only the node knows whether a container runs. */
const people = /^(ipledger:\/\/operator\/|kubernetes:)/;

const releasedOnly = ({ actor }: CallContext): { readonly releasedOnly?: true } =>
  people.test(actor) ? { releasedOnly: true } : {};

export async function bind(allocator: AllocatorContext, request: api.BindRequest, context: CallContext) {
  const sandbox = readSandbox(request);
  context.span?.set(podAttributes({ ...sandbox, name: sandbox.pod }));
  const node = readRequired(readObjectName, 'node', request.node);
  const bootId = readPrintable('boot_id', request.bootId);
  const { answer, head } = await submitCommand(
    allocator,
    context,
    (now) => ({ type: 'Bind', now, ...sandbox, node, bootId, ...onlyNode(context) }),
    (state) => {
      const allocation = allocationForSandbox(state, sandbox);
      return allocation && { ...withBindings(state, allocation), probeAddresses: isProbed(state, allocation) };
    },
  );
  if (answer) context.span?.set(allocationAttributes([answer]));
  return {
    position: positionMessage(head),
    allocation: answer && allocationMessage(visibleTo(context, answer)),
    probeAddresses: answer?.probeAddresses ?? false,
  };
}

export async function reportConflict(
  allocator: AllocatorContext,
  request: api.ReportConflictRequest,
  context: CallContext,
) {
  const fields = {
    ...readSandbox(request),
    node: readRequired(readObjectName, 'node', request.node),
    address: readAddress(requireField('address', request.address)),
    seenMac: requireField('seen_mac', request.seenMac),
  };
  const { head } = await submitCommand(
    allocator,
    context,
    (now, { seq }) => {
      refuseUnknownEvent(request.seenSeq, seq);
      return { type: 'ReportConflict', now, ...fields, ...onlyNode(context) };
    },
    () => undefined,
  );
  return { position: positionMessage(head) };
}

export async function unbind(allocator: AllocatorContext, request: api.UnbindRequest, context: CallContext) {
  const sandbox = {
    containerId: readName('container_id', request.containerId),
    interface: readName('interface', request.interface),
  };
  const cause = readUnbindCause(request.cause);
  if (!cause)
    throw new IpledgerError('INVALID_REQUEST', `cause ${request.cause} is unknown to this version of the allocator`);
  const evidence = readPrintable('evidence', request.evidence);
  const { answer, head } = await submitCommand(
    allocator,
    context,
    (now) => ({
      type: 'Unbind',
      now,
      ...sandbox,
      cause,
      evidence,
      ...onlyNode(context),
      ...releasedOnly(context),
    }),
    (_state, events) => events.length,
  );
  return { position: positionMessage(head), unbound: answer };
}
