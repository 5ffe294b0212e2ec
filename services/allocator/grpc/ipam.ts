/** The Ipam service: requests → commands and questions → replies. */
import { randomInt } from 'node:crypto';
import { pause } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { isOvnProvider } from '../../../lib/provider.ts';
import type * as api from '../../../proto/ipledger.ts';
import { type IpamService } from '../../../proto/ipledger.ts';
import { parseAddress, parseCidr } from '../domain/address.ts';
import type { AttachmentRequest, Sandbox } from '../domain/command.ts';
import { allocationForSandbox, refuseOtherNode } from '../domain/decide/bind.ts';
import type { Owner, Route } from '../domain/event.ts';
import {
  addressRecord,
  allocationsOfPod,
  type BoundAllocation,
  listAllocations,
  withBindings,
} from '../domain/questions.ts';
import { listBindings as pageOfBindings } from '../domain/sandboxes.ts';
import { attachmentKey, heldBy, type State } from '../domain/state.ts';
import { type Allocator, command, question } from './allocator.ts';
import {
  allocationMessage,
  positionOf,
  readReleaseCause,
  readUnbindCause,
  recordMessage,
  sandboxMessage,
} from './messages.ts';
import { atMost, limited, name, pageSize, readAddress, readIpFamily, required } from './read.ts';
import { reservationHandlers } from './reservations.ts';
import type { CallContext, Handlers } from '../../../lib/serving/serve.ts';
import type { Waiting } from './waiting.ts';

const mostAttachments = 24;
const mostRoutes = 64;
const mostCandidates = 256;
const usualWaitMs = 20_000;
const mostWaitMs = 60_000;
/** A Subnet may be created together with its Pod; nobody is kept waiting longer for one that is missing. */
const unboundGraceMs = 2_000;

/** Everything of Ipam that is served; the rest answers UNIMPLEMENTED. */
export function ipamHandlers(allocator: Allocator, waiting: Waiting): Handlers<typeof IpamService> {
  return {
    allocate: (request, context) => allocate(allocator, request, context),
    release: (request, context) => release(allocator, request, context),
    wait: (request, context) => wait(allocator, waiting, request, context),
    bind: (request, context) => bind(allocator, request, context),
    unbind: (request, context) => unbind(allocator, request, context),
    get: (request, context) => get(allocator, request, context),
    list: (request, context) => list(allocator, request, context),
    listBindings: (request, context) => listBindings(allocator, request, context),
    ...reservationHandlers(allocator),
  };
}

async function allocate(allocator: Allocator, request: api.AllocateRequest, context: CallContext) {
  const pod = {
    namespace: name('pod.namespace', request.pod?.namespace),
    name: name('pod.name', request.pod?.name),
    uid: name('pod.uid', request.pod?.uid),
    node: limited('pod.node', request.pod?.node ?? ''),
    ...(request.pod?.owner && { owner: readOwner(request.pod.owner) }),
  };
  const attachments = atMost('attachments', mostAttachments, request.attachments).map((each) => ({
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
  const validMs = request.validMs - (context.elapsedMs?.() ?? 0);
  const deadline = request.validMs > 0 ? allocator.replica.clock.read().at + validMs : undefined;
  const { answer, head } = await command(
    allocator,
    context,
    (now) => ({
      type: 'Allocate',
      now,
      pod,
      attachments,
      ...(request.import && { import: true }),
      ...(deadline !== undefined && { deadline }),
    }),
    (state) => allocationsOfPod(state, pod.namespace, pod.name, pod.uid),
  );
  const byAttachment = new Map(answer.map((allocation) => [attachmentKey(allocation.attachment), allocation]));
  const asked = attachments.flatMap((attachment) => byAttachment.get(attachmentKey(attachment)) ?? []);
  return { position: positionOf(head), allocations: asked.map(allocationMessage) };
}

const readOwner = ({ kind, name, uid }: api.Owner): Owner => ({
  kind: limited('pod.owner.kind', kind),
  name: limited('pod.owner.name', name),
  uid: limited('pod.owner.uid', uid),
});

function readAttachment(request: api.AttachmentRequest): AttachmentRequest {
  const candidates = atMost('candidates', mostCandidates, request.candidates).map(({ addresses }) =>
    addresses.map(readAddress),
  );
  if (candidates.some(({ length }) => length < 1 || length > 2))
    throw new IpledgerError('INVALID_REQUEST', 'candidates: each names one address, or one of each family');
  return {
    provider: name('provider', request.provider),
    ordinal: request.ordinal,
    interface: limited('interface', request.interface),
    subnets: atMost('subnets', mostAttachments, request.subnets).map((subnet) => limited('subnet', subnet)),
    candidates,
    pool: limited('pool', request.pool),
    ipFamily: readIpFamily(request.ipFamily),
    reservation: limited('reservation', request.reservation),
    mac: limited('mac', request.mac),
    routes: atMost('routes', mostRoutes, request.routes).map(readRoute),
    ...(request.defaultRoute !== undefined && { defaultRoute: request.defaultRoute }),
  };
}

/** Host bits in `dst` are allowed: whoever sets the route masks them. */
function readRoute({ dst, gw }: api.Route): Route {
  if (limited('route.dst', dst) !== '' && !parseCidr(dst))
    throw new IpledgerError('INVALID_REQUEST', `routes: dst "${dst}" is no CIDR; leave it out for the default route`);
  if (limited('route.gw', gw) !== '' && !parseAddress(gw))
    throw new IpledgerError('INVALID_REQUEST', `routes: gw "${gw}" is no IP address`);
  return { dst, gw };
}

async function release(allocator: Allocator, request: api.ReleaseRequest, context: CallContext) {
  const [namespace, pod] = [name('namespace', request.namespace), name('pod', request.pod)];
  const uid = name('pod_uid', request.podUid);
  const cause = readReleaseCause(request.cause);
  if (!cause) throw new IpledgerError('INVALID_REQUEST', 'cause is missing: a release says why');
  const evidence = limited('evidence', request.evidence);
  const alloc = request.allocationSeq || undefined;
  const { answer, head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Release', now, namespace, pod, uid, cause, evidence, ...(alloc && { alloc }) }),
    (_state, events) => events.length,
  );
  return { position: positionOf(head), released: answer };
}

type SandboxRequest = Pick<api.BindRequest, 'namespace' | 'pod' | 'podUid' | 'provider' | 'containerId' | 'interface'>;

function readSandbox(request: SandboxRequest): Sandbox {
  return {
    namespace: name('namespace', request.namespace),
    pod: name('pod', request.pod),
    uid: name('pod_uid', request.podUid),
    provider: name('provider', request.provider),
    containerId: name('container_id', request.containerId),
    interface: name('interface', request.interface),
  };
}

async function wait(allocator: Allocator, waiting: Waiting, request: api.WaitRequest, context: CallContext) {
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
  const known = ['', 'ovn', sandbox.provider];
  const bound = known.slice(0, 2).includes(sandbox.provider) || providersOf(state).has(sandbox.provider);
  return { allocation: allocation && withBindings(state, allocation), bound, others, namesakeUid: namesake?.uid };
}

/** What the Pod wants of this network it has, under other names: waiting brings nothing. */
const allOthers = (
  { namespace, pod, provider, interface: wanted }: Sandbox,
  others: readonly string[],
): IpledgerError =>
  new IpledgerError(
    'NOT_ALLOCATED',
    `Pod ${namespace}/${pod} has no attachment of provider ${provider} left for interface ${wanted}: what it has is set up as ${others.join(', ')}; does its networks annotation name this network once too few?`,
  );

const providersOf = (state: State): Set<string> =>
  new Set([...state.subnets.values()].map(({ subnet }) => subnet.spec.provider));

function nothingCame(
  { namespace, pod, uid, provider }: Sandbox,
  { bound, namesakeUid }: Seen,
  waiting: Waiting,
  timeoutMs: number,
): IpledgerError {
  const refusal = waiting.refusalOf(uid);
  if (refusal)
    return new IpledgerError(
      'NOT_ALLOCATED',
      `Pod ${namespace}/${pod} was refused at ${refusal.at}: ${refusal.message}`,
    );
  if (!bound) return new IpledgerError('PROVIDER_UNBOUND', `provider ${provider} is not bound to any subnet`);
  if (namesakeUid !== undefined && namesakeUid !== uid)
    return new IpledgerError(
      'NOT_ALLOCATED',
      `what Pod ${namespace}/${pod} holds of provider ${provider} belongs to uid ${namesakeUid}, not to uid ${uid}, which this call is for: the Pod was re-created under its name`,
    );
  return new IpledgerError(
    'NOT_ALLOCATED',
    `nothing was asked for on behalf of Pod ${namespace}/${pod} (uid ${uid}), provider ${provider}, within ${timeoutMs} ms: is pod-watcher running, and does the Pod's networks annotation name this network?`,
  );
}

/** An agent speaks of its own node only. */
const onlyNode = ({ ownNode }: CallContext): { readonly onlyNode?: string } =>
  ownNode === undefined ? {} : { onlyNode: ownNode };

async function bind(allocator: Allocator, request: api.BindRequest, context: CallContext) {
  const sandbox = readSandbox(request);
  const [node, bootId] = [required('node', request.node), limited('boot_id', request.bootId)];
  const { answer, head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Bind', now, ...sandbox, node, bootId, ...onlyNode(context) }),
    (state) => {
      const allocation = allocationForSandbox(state, sandbox);
      return allocation && withBindings(state, allocation);
    },
  );
  return { position: positionOf(head), allocation: answer && allocationMessage(answer) };
}

async function unbind(allocator: Allocator, request: api.UnbindRequest, context: CallContext) {
  const sandbox = {
    containerId: name('container_id', request.containerId),
    interface: name('interface', request.interface),
  };
  const cause = readUnbindCause(request.cause);
  if (!cause) throw new IpledgerError('INVALID_REQUEST', `cause ${request.cause} is not known to this version`);
  const { answer, head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Unbind', now, ...sandbox, cause, ...onlyNode(context) }),
    (_state, events) => events.length,
  );
  return { position: positionOf(head), unbound: answer };
}

async function get(allocator: Allocator, request: api.GetRequest, context: CallContext) {
  const [subnet, address] = [required('subnet', request.subnet), required('address', request.address)];
  const record = (state: State, now: number) => addressRecord(state, subnet, address, now);
  const { answer, head } = await question(allocator, context, record, request);
  return { position: positionOf(head), record: recordMessage(answer) };
}

async function list(allocator: Allocator, request: api.ListRequest, context: CallContext) {
  const filter = Object.fromEntries(
    (['subnet', 'namespace', 'pod', 'node'] as const).flatMap((field) =>
      request[field] ? [[field, request[field]]] : [],
    ),
  );
  const afterSeq = request.pageToken === '' ? 0 : Number(request.pageToken);
  if (!Number.isSafeInteger(afterSeq) || afterSeq < 0)
    throw new IpledgerError('INVALID_REQUEST', `page_token "${request.pageToken}" is not one that a reply gave`);
  const page = { afterSeq, size: pageSize(request.pageSize, 500, 1_000) };
  const { answer, head } = await question(allocator, context, (state) => listAllocations(state, filter, page), request);
  const nextPageToken = answer.nextAfterSeq === undefined ? '' : String(answer.nextAfterSeq);
  return { position: positionOf(head), allocations: answer.allocations.map(allocationMessage), nextPageToken };
}

async function listBindings(allocator: Allocator, request: api.ListBindingsRequest, context: CallContext) {
  const node = limited('node', request.node);
  const after = request.pageToken;
  if (after !== '' && after.split('/').length !== 2)
    throw new IpledgerError('INVALID_REQUEST', `page_token "${after}" is not one that a reply gave`);
  const page = { after, size: pageSize(request.pageSize, 500, 1_000) };
  const { answer, head } = await question(allocator, context, (state) => pageOfBindings(state, node, page), request);
  return { position: positionOf(head), bindings: answer.bindings.map(sandboxMessage), nextPageToken: answer.next };
}
