/** Ipam.Allocate: a Pod's request → a command → what it was given. */
import { randomInt } from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';
import { isOvnProvider } from '../../../lib/provider.ts';
import type * as api from '../../../proto/ipledger.ts';
import { parseAddress, parseCidr } from '../domain/address.ts';
import type { AttachmentRequest } from '../domain/command.ts';
import type { Owner, Route } from '../domain/event.ts';
import { allocationsOfPod } from '../domain/questions.ts';
import { attachmentKey } from '../domain/state.ts';
import { type Allocator, command } from './allocator.ts';
import { allocationMessage, positionOf } from './messages.ts';
import { name, readAddress, readIpFamily } from './read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';

/** Takes all addresses of a Pod in one transaction, or none. @throws IpledgerError as the API says of Allocate */
export async function allocate(allocator: Allocator, request: api.AllocateRequest, context: CallContext) {
  const pod = {
    namespace: name('pod.namespace', request.pod?.namespace),
    name: name('pod.name', request.pod?.name),
    uid: name('pod.uid', request.pod?.uid),
    node: request.pod?.node ?? '',
    ...(request.pod?.owner && { owner: readOwner(request.pod.owner) }),
  };
  const attachments = request.attachments.map((each) => ({
    ...readAttachment(each),
    // What is imported has the MAC that it has.
    ...(isOvnProvider(each.provider) && !request.import && { macSeed: randomInt(2 ** 48 - 1) }),
  }));
  if (attachments.length === 0) throw new IpledgerError('INVALID_REQUEST', 'attachments: at least one is needed');
  if (new Set(attachments.map(attachmentKey)).size < attachments.length)
    throw new IpledgerError(
      'INVALID_REQUEST',
      'attachments: each provider needs a different ordinal for each of its attachments',
    );
  const { answer, head } = await command(
    allocator,
    context,
    (now) => ({
      type: 'Allocate',
      now,
      pod,
      attachments,
      ...(request.import && { import: true }),
      ...(request.validMs > 0 && { deadline: now + validMsLeft(request, context) }),
    }),
    (state) => allocationsOfPod(state, pod.namespace, pod.name, pod.uid),
  );
  const byAttachment = new Map(answer.map((allocation) => [attachmentKey(allocation.attachment), allocation]));
  const asked = attachments.flatMap((attachment) => byAttachment.get(attachmentKey(attachment)) ?? []);
  return { position: positionOf(head), allocations: asked.map(allocationMessage) };
}

/**
 * How long a request is valid still, by the monotonic clock alone: less what it has waited here and at the standby that passed it on,
 * and never longer than its caller waits, whose deadline also counts what passed before the request was sent.
 */
const validMsLeft = ({ validMs }: api.AllocateRequest, { elapsedMs, remainingMs }: CallContext): number =>
  Math.min(validMs - (elapsedMs?.() ?? 0), remainingMs?.() ?? Infinity);

const readOwner = ({ kind, name, uid }: api.Owner): Owner => ({ kind, name, uid });

function readAttachment(request: api.AttachmentRequest): AttachmentRequest {
  const candidates = request.candidates.map(({ addresses }) => addresses.map(readAddress));
  if (candidates.some(({ length }) => length < 1 || length > 2))
    throw new IpledgerError('INVALID_REQUEST', 'candidates: each names one address, or one of each family');
  return {
    provider: name('provider', request.provider),
    ordinal: request.ordinal,
    interface: request.interface,
    subnets: request.subnets,
    candidates,
    pool: request.pool,
    ipFamily: readIpFamily(request.ipFamily),
    reservation: request.reservation,
    mac: request.mac,
    routes: request.routes.map(readRoute),
    ...(request.defaultRoute !== undefined && { defaultRoute: request.defaultRoute }),
  };
}

/** Host bits in `dst` are allowed: whoever sets the route masks them. */
function readRoute({ dst, gw }: api.Route): Route {
  if (dst !== '' && !parseCidr(dst))
    throw new IpledgerError('INVALID_REQUEST', `routes: dst "${dst}" is no CIDR; leave it out for the default route`);
  if (gw !== '' && !parseAddress(gw)) throw new IpledgerError('INVALID_REQUEST', `routes: gw "${gw}" is no IP address`);
  return { dst, gw };
}
