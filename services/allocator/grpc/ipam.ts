/** The Ipam service: requests → commands and questions → replies. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { CallContext, Handlers } from '../../../lib/serving/serve.ts';
import type * as api from '../../../proto/ipledger.ts';
import { type IpamService } from '../../../proto/ipledger.ts';
import { allocationForSandbox } from '../domain/decide/bind.ts';
import { addressRecord, listAllocations, withBindings } from '../domain/questions.ts';
import { type BoundSandbox, listBindings as pageOfBindings } from '../domain/sandboxes.ts';
import { sandboxKey, type State } from '../domain/state.ts';
import { allocate } from './allocate.ts';
import { type Allocator, command, question } from './allocator.ts';
import {
  allocationMessage,
  positionOf,
  readReleaseCause,
  readUnbindCause,
  recordMessage,
  sandboxMessage,
} from './messages.ts';
import { countFitting } from '../../../lib/serving/page-bytes.ts';
import { pageSize, readSeqToken, required } from '../../../lib/serving/read.ts';
import { name, readNameToken, readSandbox } from './read.ts';
import { reservationHandlers } from './reservations.ts';
import { wait } from './wait.ts';
import type { Waiting } from './waiting.ts';

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

async function release(allocator: Allocator, request: api.ReleaseRequest, context: CallContext) {
  const [namespace, pod] = [name('namespace', request.namespace), name('pod', request.pod)];
  const uid = name('pod_uid', request.podUid);
  const cause = readReleaseCause(request.cause);
  if (!cause) throw new IpledgerError('INVALID_REQUEST', 'cause is missing: a release says why');
  const { evidence } = request;
  const alloc = request.allocationSeq || undefined;
  const { answer, head } = await command(
    allocator,
    context,
    (now) => ({ type: 'Release', now, namespace, pod, uid, cause, evidence, ...(alloc && { alloc }) }),
    (_state, events) => events.length,
  );
  return { position: positionOf(head), released: answer };
}

/** An agent speaks of its own node only. */
const onlyNode = ({ ownNode }: CallContext): { readonly onlyNode?: string } =>
  ownNode === undefined ? {} : { onlyNode: ownNode };

async function bind(allocator: Allocator, request: api.BindRequest, context: CallContext) {
  const sandbox = readSandbox(request);
  const [node, bootId] = [required('node', request.node), request.bootId];
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
  const afterSeq = request.pageToken === '' ? 0 : readSeqToken(request.pageToken);
  const page = { afterSeq, size: pageSize(request.pageSize, 500, 1_000) };
  const { answer, head } = await question(allocator, context, (state) => listAllocations(state, filter, page), request);
  const all = answer.allocations.map(allocationMessage);
  const allocations = all.slice(0, countFitting(all));
  const next = allocations.length < all.length ? allocations.at(-1)?.seq : answer.nextAfterSeq;
  return { position: positionOf(head), allocations, nextPageToken: next === undefined ? '' : String(next) };
}

async function listBindings(allocator: Allocator, request: api.ListBindingsRequest, context: CallContext) {
  const { node } = request;
  const page = { after: readNameToken(request.pageToken), size: pageSize(request.pageSize, 500, 1_000) };
  const { answer, head } = await question(allocator, context, (state) => pageOfBindings(state, node, page), request);
  const { bindings, next } = bindingsFitting(answer.bindings);
  return { position: positionOf(head), bindings: bindings.map(sandboxMessage), nextPageToken: next || answer.next };
}

/** What fills a page, and where the next begins ('' where all fit). A token names a sandbox, whose bindings stay together. */
function bindingsFitting(all: readonly BoundSandbox[]): { bindings: readonly BoundSandbox[]; next: string } {
  const keyOf = ({ binding }: BoundSandbox): string => sandboxKey(binding.containerId, binding.interface);
  const over = all[countFitting(all)];
  if (!over) return { bindings: all, next: '' };
  const isOver = (each: BoundSandbox): boolean => keyOf(each) === keyOf(over);
  const start = all.findIndex(isOver);
  const bindings = all.slice(0, start > 0 ? start : all.findLastIndex(isOver) + 1);
  const last = bindings.at(-1);
  return { bindings, next: last && bindings.length < all.length ? keyOf(last) : '' };
}
