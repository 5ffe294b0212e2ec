/**
 * A model of the Kubernetes API server: objects with resource versions, deletions as the server
 * does them, lists, and the history that watches read. Pure: it has no clock, and loses nothing.
 * Its contract suite also runs against the real server.
 *
 * A deletion of a Pod is a change that sets the grace period, and another change that removes it:
 * a watch shows MODIFIED before DELETED, also where both happen in one request.
 */
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { ApiRequest } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { asNumber, asRecord, asText, type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import { mergePatchOf } from './merge-patch.ts';
import { parseResourcePath, type ResourcePath } from './resource-path.ts';

export interface ApiServerOptions {
  /** The wall clock of the server. */
  readonly now: () => number;
  readonly newUid: () => string;
}

export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: string;
  readonly object: StoredObject;
}

export type StoredObject = UntypedJson & { readonly metadata: UntypedJson };
type Draft = Record<string, unknown> & { metadata: Record<string, unknown> };

/** The versions of a real server are far from zero, and its history does not reach back to it. */
const firstVersion = 1_000;
const podsKind = '/api/v1/pods';
/** Their updates are conditional in the client, and they have no status. */
const kindsWithoutStatus = new Set(['/apis/coordination.k8s.io/v1/leases', '/api/v1/events', '/api/v1/configmaps']);

export class ApiServer {
  readonly #options: ApiServerOptions;
  /** By kind, then by "namespace/name". */
  readonly #objects = new Map<string, Map<string, StoredObject>>();
  #history: Change[] = [];
  /** The history has all changes after this version. */
  #historyStart = firstVersion;
  #version = firstVersion;
  readonly #watchers = new Set<() => void>();
  /** The lists of which a later page may be requested, by their version. */
  readonly #paged = new Map<number, readonly StoredObject[]>();

  constructor(options: ApiServerOptions) {
    this.#options = options;
  }

  get version(): number {
    return this.#version;
  }

  /** Calls `onChange` after each later change. Returns its removal. */
  onChange(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => void this.#watchers.delete(onChange);
  }

  /** Executes a request. @throws ApiError */
  handle({ method, path, body, accept = '' }: Pick<ApiRequest, 'method' | 'path' | 'body' | 'accept'>): unknown {
    const target = parseResourcePath(path);
    const reply = this.#execute(method, target, asRecord(copyOf(body ?? {})));
    return metadataOnlyIf(accept.includes('as=PartialObjectMetadata'), reply);
  }

  #execute(method: ApiRequest['method'], target: ResourcePath, body: UntypedJson): unknown {
    if (target.name === undefined) return method === 'GET' ? this.#list(target) : this.#create(target, body);
    const present = this.#find(target);
    if (!present) throw new ApiError(404, `${target.kind} "${target.name}" not found`);
    if (target.subresource === 'binding') return this.#bind(target.kind, present, body);
    if (method === 'GET') return copyOf(present);
    if (method === 'DELETE') return this.#delete(target.kind, present, body);
    return this.#update(target, present, method === 'PUT' ? body : asRecord(mergePatchOf(present, body)), method);
  }

  /** All changes of a collection after a version. @throws ApiError 410 */
  changesAfter(target: ResourcePath, version: number): readonly Change[] {
    if (version < this.#historyStart)
      throw new ApiError(410, `too old resource version: ${version} (${this.#historyStart})`);
    return this.#history.filter((change) => change.version > version && isIn(target, change.kind, change.object));
  }

  /** The objects of a collection, by name. */
  objectsOf(target: Pick<ResourcePath, 'kind' | 'namespace'>): readonly StoredObject[] {
    const all = [...(this.#objects.get(target.kind)?.values() ?? [])];
    return all
      .filter((object) => isIn(target, target.kind, object))
      .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }

  /** Forgets the history before the present version: watches from earlier ones get 410. */
  compact(): void {
    this.#history = [];
    this.#paged.clear();
    this.#historyStart = this.#version;
  }

  #find({ kind, namespace = '', name = '' }: ResourcePath): StoredObject | undefined {
    return this.#objects.get(kind)?.get(`${namespace}/${name}`);
  }

  /** All pages are of the version of the first one, which a continue token has with their place. */
  #list(target: ResourcePath): unknown {
    const limit = Number(target.query.get('limit') ?? 0) || Infinity;
    const [version = this.#version, from = 0] =
      (target.query.get('continue') || undefined)?.split(' ').map(Number) ?? [];
    const items = from === 0 ? this.objectsOf(target) : this.#paged.get(version);
    if (!items) throw new ApiError(410, 'The provided continue parameter is too old');
    const to = from + limit;
    if (to < items.length) this.#paged.set(version, items);
    const token = to < items.length ? `${version} ${to}` : '';
    return { metadata: { resourceVersion: String(version), continue: token }, items: copyOf(items.slice(from, to)) };
  }

  #create({ kind, namespace = '' }: ResourcePath, body: UntypedJson): unknown {
    const given = asRecord(body['metadata']);
    const key = `${namespace}/${asText(given['name'])}`;
    if (this.#objects.get(kind)?.has(key)) throw new ApiError(409, `${kind} "${key}" already exists`);
    const metadata = {
      ...given,
      ...(namespace !== '' && { namespace }),
      uid: this.#options.newUid(),
      creationTimestamp: this.#time(0),
      ...(!kindsWithoutStatus.has(kind) && { generation: 1 }),
    };
    const draft = { ...body, metadata, ...(kind === podsKind && podDefaults(body)) };
    return this.#store('ADDED', kind, draft);
  }

  #update(target: ResourcePath, present: StoredObject, given: UntypedJson, method: string): unknown {
    const { kind, subresource } = target;
    const metadata = asRecord(given['metadata']);
    const isPut = method === 'PUT';
    if (metadata['uid'] !== undefined && metadata['uid'] !== present.metadata['uid'])
      throw isPut
        ? new ApiError(409, 'Precondition failed: UID in precondition')
        : new ApiError(422, 'metadata.uid: field is immutable', { field: 'metadata.uid' });
    if (
      metadata['resourceVersion'] !== undefined &&
      metadata['resourceVersion'] !== present.metadata['resourceVersion']
    )
      throw new ApiError(409, 'the object has been modified; please apply your changes to the latest version');
    const kept = pick(present.metadata, serverFields);
    const draft: Draft =
      subresource === 'status'
        ? { ...present, metadata: { ...present.metadata }, status: given['status'] }
        : {
            ...given,
            ...(!kindsWithoutStatus.has(kind) && { status: present['status'] }),
            metadata: { ...omit(metadata, serverFields), ...kept },
          };
    if (!isDeepStrictEqual(draft['spec'], present['spec']) && draft.metadata['generation'] !== undefined)
      draft.metadata['generation'] = Number(draft.metadata['generation']) + 1;
    if (isDeepStrictEqual(copyOf(draft), copyOf(present))) return copyOf(present);
    return isDeletedByUpdate(draft) ? this.#remove(kind, present) : this.#store('MODIFIED', kind, draft);
  }

  #bind(kind: string, pod: StoredObject, body: UntypedJson): unknown {
    const { uid } = asRecord(body['metadata']);
    if (uid !== undefined && uid !== pod.metadata['uid']) throw new ApiError(409, 'Precondition failed: UID');
    const spec = asRecord(pod['spec']);
    if (pod.metadata['deletionTimestamp'] !== undefined)
      throw new ApiError(409, 'pod is being deleted, cannot be assigned to a host');
    if (asText(spec['nodeName']) !== '') throw new ApiError(409, 'pod is already assigned to a node');
    const nodeName = asText(asRecord(body['target'])['name']);
    return this.#store('MODIFIED', kind, { ...pod, spec: { ...spec, nodeName }, metadata: { ...pod.metadata } });
  }

  #delete(kind: string, present: StoredObject, options: UntypedJson): unknown {
    const { uid } = asRecord(options['preconditions']);
    if (uid !== undefined && uid !== present.metadata['uid'])
      throw new ApiError(409, 'Precondition failed: UID in precondition');
    const hasFinalizers = asList(present.metadata['finalizers']).length > 0;
    if (kind === podsKind) return this.#deletePod(present, asNumber(options['gracePeriodSeconds']), hasFinalizers);
    if (!hasFinalizers) return this.#remove(kind, present);
    return present.metadata['deletionTimestamp'] === undefined ? this.#mark(kind, present, 0) : copyOf(present);
  }

  /** A later request can only shorten the grace period. */
  #deletePod(pod: StoredObject, requested: number | undefined, hasFinalizers: boolean): unknown {
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    const isTerminated = ['Succeeded', 'Failed'].includes(asText(asRecord(pod['status'])['phase']));
    const spec = asRecord(pod['spec']);
    if (deletionTimestamp !== undefined && (requested === undefined || requested >= Number(deletionGracePeriodSeconds)))
      return copyOf(pod);
    const isImmediate = deletionTimestamp === undefined && (asText(spec['nodeName']) === '' || isTerminated);
    const seconds = isImmediate ? 0 : (requested ?? asNumber(spec['terminationGracePeriodSeconds']) ?? 30);
    const marked = this.#mark(podsKind, pod, seconds);
    return seconds === 0 && !hasFinalizers ? this.#remove(podsKind, marked) : copyOf(marked);
  }

  /** Marks an object as being deleted. The deadline counts from the first request. */
  #mark(kind: string, object: StoredObject, seconds: number): StoredObject {
    const { deletionTimestamp, deletionGracePeriodSeconds: before, generation } = object.metadata;
    const at =
      deletionTimestamp === undefined
        ? this.#time(seconds)
        : toTimestamp(Date.parse(asText(deletionTimestamp)) + (seconds - Number(before)) * 1_000);
    const mark = { deletionTimestamp: at, deletionGracePeriodSeconds: seconds };
    const isFirst = deletionTimestamp === undefined && generation !== undefined;
    const metadata = { ...object.metadata, ...mark, ...(isFirst && { generation: Number(generation) + 1 }) };
    return this.#store('MODIFIED', kind, { ...object, metadata });
  }

  #store(type: 'ADDED' | 'MODIFIED', kind: string, draft: UntypedJson & { metadata: UntypedJson }): StoredObject {
    const metadata = { ...draft.metadata, resourceVersion: String(++this.#version) };
    const object = copyOf({ ...draft, metadata }) as StoredObject;
    let objects = this.#objects.get(kind);
    if (!objects) this.#objects.set(kind, (objects = new Map<string, StoredObject>()));
    objects.set(keyOf(object), object);
    this.#record({ version: this.#version, type, kind, object });
    return object;
  }

  #remove(kind: string, present: StoredObject): StoredObject {
    const metadata = { ...present.metadata, resourceVersion: String(++this.#version) };
    this.#objects.get(kind)?.delete(keyOf(present));
    const object = { ...present, metadata };
    this.#record({ version: this.#version, type: 'DELETED', kind, object });
    return object;
  }

  #record(change: Change): void {
    this.#history.push(change);
    for (const wake of this.#watchers) wake();
  }

  #time(inSeconds: number): string {
    return toTimestamp(this.#options.now() + inSeconds * 1_000);
  }
}

/** The fields of the metadata that only the server writes. */
const serverFields = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'name',
  'namespace',
];

const isIn = ({ kind, namespace }: Pick<ResourcePath, 'kind' | 'namespace'>, ofKind: string, object: StoredObject) =>
  kind === ofKind && (namespace === undefined || object.metadata['namespace'] === namespace);

const keyOf = ({ metadata }: StoredObject): string => `${asText(metadata['namespace'])}/${asText(metadata['name'])}`;

const podDefaults = ({ spec }: UntypedJson) => ({
  spec: { terminationGracePeriodSeconds: 30, restartPolicy: 'Always', ...asRecord(spec) },
  status: { phase: 'Pending' },
});

/** The update that removes the last finalizer removes the object. */
const isDeletedByUpdate = ({ metadata }: Draft): boolean =>
  metadata['deletionTimestamp'] !== undefined &&
  !(Number(metadata['deletionGracePeriodSeconds']) > 0) &&
  asList(metadata['finalizers']).length === 0;

const toTimestamp = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const pick = (record: UntypedJson, keys: readonly string[]): UntypedJson =>
  Object.fromEntries(Object.entries(record).filter(([key]) => keys.includes(key)));
const omit = (record: UntypedJson, keys: readonly string[]): UntypedJson =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));

/** A copy as JSON would make it: without undefined. */
const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

/** Leaves out all but the metadata of an object, or of the items of a list. */
export function metadataOnlyIf(isMetadataOnly: boolean, reply: unknown): unknown {
  if (!isMetadataOnly) return reply;
  const { items, metadata } = asRecord(reply);
  if (!Array.isArray(items)) return { metadata };
  return { metadata, items: items.map((item) => ({ metadata: asRecord(item)['metadata'] })) };
}
