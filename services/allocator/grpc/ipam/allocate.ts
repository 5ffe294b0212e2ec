/** Ipam.Allocate: reads the request, submits the command and returns the allocations. */
import { randomInt } from 'node:crypto';
import { IpledgerError } from '../../../../lib/errors.ts';
import { escapeUnprintable } from '../../../../lib/unprintable.ts';
import { isOvnProvider } from '../../../../lib/kubernetes/served-network.ts';
import { allocationAttributes, podAttributes } from '../../../../lib/tracing/span.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { parseAddress, parseCidr } from '../../../../ledger/domain/addresses/address.ts';
import type { AttachmentRequest } from '../../../../ledger/domain/commands/command.ts';
import type { Event } from '../../../../ledger/domain/events/event.ts';
import type { Seq } from '../../../../ledger/domain/values/ledger.ts';
import type { Attachment, Owner, Route } from '../../../../ledger/domain/values/allocation.ts';
import { allocationsOfPod, type BoundAllocation } from '../../../../ledger/domain/queries/queries.ts';
import { attachmentKey } from '../../../../ledger/domain/state/state.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { submitCommand } from '../run-query.ts';
import { refuseUnknownEvent } from './seen-event.ts';
import { allocationMessage, positionMessage } from '../messages.ts';
import {
  readAddress,
  readId,
  readInterface,
  readIpFamily,
  readNamespace,
  readObjectName,
  readProvider,
  readRequired,
} from '../read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';

/**
 * Allocates all addresses of a Pod in one transaction, or none.
 * @throws IpledgerError: see Allocate in ipledger.proto
 */
export async function allocate(allocator: AllocatorContext, request: api.AllocateRequest, context: CallContext) {
  const pod = {
    namespace: readRequired(readNamespace, 'pod.namespace', request.pod?.namespace),
    name: readRequired(readObjectName, 'pod.name', request.pod?.name),
    uid: readRequired(readId, 'pod.uid', request.pod?.uid),
    node: readObjectName('pod.node', request.pod?.node ?? ''),
    ...(request.pod?.owner && { owner: readOwner(request.pod.owner) }),
  };
  context.span?.set(podAttributes(pod));
  const attachments = request.attachments.map((each) => readAttachment(each, request.import));
  refuseRepeated(attachments);
  let firstSeq = 0;
  const { answer, head } = await submitCommand(
    allocator,
    context,
    (now, { seq }) => {
      refuseUnknownEvent(request.seenSeq, seq);
      firstSeq = seq + 1;
      return {
        type: 'Allocate',
        now,
        pod,
        attachments,
        ...(request.import && { import: true }),
        ...(request.seenSeq > 0 && { seenSeq: request.seenSeq }),
        ...(request.validMs > 0 && { deadline: now + validMsLeft(request, context) }),
      };
    },
    (state, events, now) =>
      allocationsFromEvents(events, attachments, { firstSeq, now }) ??
      allocationsOfPod(state, pod.namespace, pod.name, pod.uid),
  );
  const allocations = inOrderOf(attachments, answer);
  context.span?.set(allocationAttributes(allocations));
  return { position: positionMessage(head), allocations: allocations.map(allocationMessage) };
}

/**
 * The remaining validity of a request: `valid_ms` minus the time it has waited, here and at the
 * standby that forwarded it, limited by the caller's deadline. Uses only monotonic clocks, because
 * clocks of different machines must not be compared.
 */
const validMsLeft = ({ validMs }: api.AllocateRequest, context: CallContext): number =>
  Math.min(validMs - (context.elapsedMs?.() ?? 0), context.remainingMs?.() ?? Infinity);

function refuseRepeated(attachments: readonly AttachmentRequest[]): void {
  if (attachments.length === 0) throw new IpledgerError('INVALID_REQUEST', 'attachments: at least one is needed');
  if (attachments.length > 1 && new Set(attachments.map(attachmentKey)).size < attachments.length)
    throw new IpledgerError(
      'INVALID_REQUEST',
      'attachments: each provider needs a different ordinal for each of its attachments',
    );
}

/**
 * Builds the allocations from the events, if these allocate to each attachment and do nothing else,
 * as for most commands. The state has the same allocations, but they would have to be decoded.
 * Returns undefined for other commands.
 */
function allocationsFromEvents(
  events: readonly Event[],
  attachments: readonly AttachmentRequest[],
  { firstSeq, now }: { readonly firstSeq: Seq; readonly now: number },
): readonly BoundAllocation[] | undefined {
  if (events.length !== attachments.length) return undefined;
  const granted: BoundAllocation[] = [];
  for (const event of events) {
    // An address of an earlier Pod of the same name keeps the bindings of that Pod's containers.
    if (event.type !== 'AddressAllocated' || event.data.supersedes !== undefined) return undefined;
    if (!isFor(attachments[granted.length], event.data.attachment)) return undefined;
    granted.push({ ...event.data, seq: firstSeq + granted.length, subnet: event.subnet, at: now, bindings: [] });
  }
  return granted;
}

const isFor = (request: AttachmentRequest | undefined, { provider, ordinal }: Attachment): boolean =>
  request?.provider === provider && request.ordinal === ordinal;

/** The allocations of the requested attachments, in order. The Pod may have others. */
function inOrderOf(
  attachments: readonly AttachmentRequest[],
  allocations: readonly BoundAllocation[],
): readonly BoundAllocation[] {
  const [only] = allocations;
  if (attachments.length === 1 && allocations.length === 1 && only && isFor(attachments[0], only.attachment))
    return allocations;
  const byAttachment = new Map(allocations.map((allocation) => [attachmentKey(allocation.attachment), allocation]));
  return attachments.flatMap((attachment) => byAttachment.get(attachmentKey(attachment)) ?? []);
}

/**
 * Escapes the fields of the owner: the API server accepts any text in an ownerReference, and such a
 * Pod must get its address too.
 */
const readOwner = ({ kind, name, uid }: api.Owner): Owner => ({
  kind: escapeUnprintable(kind),
  name: escapeUnprintable(name),
  uid: escapeUnprintable(uid),
});

function readAttachment(request: api.AttachmentRequest, isImported: boolean): AttachmentRequest {
  const { provider, ordinal, interface: name, subnets, pool, ipFamily, reservation, mac, routes, ...others } = request;
  const { candidates: sets, defaultRoute, ...forgotten } = others;
  // A field that is not read stays in `forgotten`, so that this does not compile.
  forgotten satisfies Record<string, never>;
  const candidates = sets.map(({ addresses }) => addresses.map(readAddress));
  if (candidates.some(({ length }) => length < 1 || length > 2))
    throw new IpledgerError('INVALID_REQUEST', 'candidates: each must contain one address, or one of each family');
  return {
    provider: readRequired(readProvider, 'provider', provider),
    ordinal,
    interface: readInterface('interface', name),
    // Escaped, because a refusal quotes these texts and is recorded.
    subnets: subnets.map(escapeUnprintable),
    candidates,
    pool: escapeUnprintable(pool),
    ipFamily: readIpFamily(ipFamily),
    reservation: escapeUnprintable(reservation),
    mac: escapeUnprintable(mac),
    routes: routes.map(readRoute),
    ...(defaultRoute !== undefined && { defaultRoute }),
    // An imported NIC keeps its MAC, so it needs no seed.
    ...(isOvnProvider(provider) && !isImported && { macSeed: randomInt(2 ** 48 - 1) }),
  };
}

/** Accepts host bits in `dst`, because the CNI plugin that sets the route masks them. */
function readRoute({ dst, gw }: api.Route): Route {
  if (dst !== '' && !parseCidr(dst))
    throw new IpledgerError('INVALID_REQUEST', `routes: dst "${dst}" is not a CIDR; omit it for the default route`);
  if (gw !== '' && !parseAddress(gw))
    throw new IpledgerError('INVALID_REQUEST', `routes: gw "${gw}" is not an IP address`);
  return { dst, gw };
}
