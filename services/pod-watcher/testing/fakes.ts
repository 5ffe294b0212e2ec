/** Fakes of informers and of the allocator, and test data. */
import { pino } from 'pino';
import { pause } from '../../../lib/process/abortable.ts';
import type {
  AllocateRequest,
  Allocation,
  ListBindingsRequest,
  ReleaseRequest,
  SandboxBinding,
} from '../../../proto/generated/ipledger.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import { type ObjectChange, keyOf, type ObjectMeta } from '../../../lib/kubernetes/client/informer.ts';
import { type SubnetObject, toSubnet } from '../kubernetes/objects/subnet.ts';
import { asVirtualMachine } from '../kubernetes/launcher-verifier.ts';
import { type Pod, toPod } from '../kubernetes/objects/pod.ts';
import type { HeldAllocation, AppliedSubnet, LedgerEvent } from '../ledger/ledger-events.ts';

export const silentLogger = pino({ level: 'silent' });

const untilLimitMs = 15_000;

/**
 * Resolves once `condition` is true.
 * @throws Error with the condition, if it is not true within 15 s
 */
export async function until(condition: () => boolean): Promise<void> {
  const never = new AbortController().signal;
  const lastAt = Date.now() + untilLimitMs;
  while (!condition()) {
    if (Date.now() > lastAt) throw new Error(`not so for 15 s: ${String(condition)}`);
    await pause(2, never);
  }
}

/** An informer whose objects the spec adds and removes. */
export class FakeInformer<T extends ObjectMeta> {
  readonly objects = new Map<string, T>();
  readonly hasSynced = true;
  readonly #listeners: ((change: ObjectChange<T>) => void)[] = [];

  subscribe(listener: (change: ObjectChange<T>) => void): void {
    this.#listeners.push(listener);
  }

  put(object: T): void {
    const before = this.objects.get(keyOf(object));
    this.objects.set(keyOf(object), object);
    this.notify({ kind: 'present', object, before });
  }

  drop(object: T, witnessed = true): void {
    this.objects.delete(keyOf(object));
    this.notify({ kind: 'gone', object, witnessed });
  }

  notify(change: ObjectChange<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

export interface PodParts {
  readonly uid?: string;
  readonly annotations?: Record<string, string>;
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
}

/** Makes a Pod in namespace default. */
export function podNamed(
  name: string,
  { uid = `uid-${name}`, annotations = {}, spec, status, metadata }: PodParts = {},
): Pod {
  return toPod({
    metadata: { name, namespace: 'default', uid, annotations, ...metadata },
    spec: spec ?? {},
    status: status ?? { phase: 'Pending' },
  });
}

/** Makes the mirror of a static Pod on node-1, as its kubelet writes it. */
export function mirrorOf(name: string, hash: string, { annotations, ...parts }: PodParts = {}): Pod {
  const node = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-node-1', controller: true };
  return podNamed(name, {
    uid: `mirror-of-${hash}`,
    annotations: { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash, ...annotations },
    spec: { nodeName: 'node-1' },
    ...parts,
    metadata: { ownerReferences: [node], ...parts.metadata },
  });
}

/**
 * Makes an unverified Pod with VirtualMachineInstance vm1 as its controller; `instance` is the uid
 * in its owner reference.
 */
export function unverifiedLauncher(
  suffix: string,
  { instance = 'uid-vm1', ...parts }: PodParts & { instance?: string } = {},
): Pod {
  const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: instance };
  const metadata = { ownerReferences: [{ ...machine, controller: true }], ...parts.metadata };
  return podNamed(`virt-launcher-vm1-${suffix}`, { ...parts, metadata });
}

/** Makes a verified launcher of the virtual machine vm1. */
export const launcher = (suffix: string, parts: PodParts & { instance?: string } = {}): Pod =>
  asVirtualMachine(unverifiedLauncher(suffix, parts));

/** Makes a Subnet object, by default of provider macvlan.default. */
export function subnetNamed(name: string, spec: object = {}, metadata: object = {}): SubnetObject {
  return toSubnet({
    metadata: { name, uid: `uid-${name}`, generation: 1, ...metadata },
    spec: { provider: 'macvlan.default', cidrBlock: '10.0.0.0/24', ...spec },
  });
}

/** Makes a subnet of the ledger. */
export function appliedSubnet(name: string, provider = 'macvlan.default'): AppliedSubnet {
  const spec = { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], provider, protocol: 'IPv4' };
  return { name, spec, source: { uid: `uid-${name}`, generation: 1 } };
}

/** Makes an allocation of a Pod in namespace default. */
export function heldAllocation(pod: string, parts: Partial<HeldAllocation> = {}): HeldAllocation {
  return {
    seq: 7,
    namespace: 'default',
    pod,
    uid: `uid-${pod}`,
    provider: 'macvlan.default',
    ordinal: 0,
    subnet: 'macvlan',
    addresses: [{ address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
    mac: '',
    interface: '',
    node: '',
    owner: undefined,
    isStatic: false,
    ...parts,
  };
}

/** Makes the event that a container of a Pod in namespace default uses an allocation. */
export function boundEvent(pod: string, seq: number, node = 'node-1', name = 'net1'): LedgerEvent {
  return { kind: 'bound', seq, namespace: 'default', pod, interface: name, node };
}

/**
 * An allocator that accepts all requests and records them. `refuse` returns the error of a
 * rejection.
 */
export class FakeAllocator {
  readonly allocated: MessageInput<AllocateRequest>[] = [];
  readonly released: MessageInput<ReleaseRequest>[] = [];
  /** The bindings of all Nodes. */
  bindings: SandboxBinding[] = [];
  refuse: (() => Error | undefined) | undefined;
  #seq = 100;

  allocate(request: MessageInput<AllocateRequest>) {
    this.allocated.push(request);
    const error = this.refuse?.();
    if (error) return Promise.reject(error);
    const allocations = (request.attachments ?? []).map((attachment) =>
      this.#allocate(request, attachment.provider ?? ''),
    );
    return Promise.resolve({ position: { epoch: 1, seq: this.#seq, hash: '' }, allocations });
  }

  release(request: MessageInput<ReleaseRequest>) {
    this.released.push(request);
    const error = this.refuse?.();
    return error
      ? Promise.reject(error)
      : Promise.resolve({ position: { epoch: 1, seq: this.#seq, hash: '' }, released: 1 });
  }

  /** Returns an empty first page, so that a reader has to request the next one. */
  listBindings({ pageToken = '' }: MessageInput<ListBindingsRequest> = {}) {
    return Promise.resolve(
      pageToken === '' ? { bindings: [], nextPageToken: 'next' } : { bindings: this.bindings, nextPageToken: '' },
    );
  }

  #allocate({ pod }: MessageInput<AllocateRequest>, provider: string): Allocation {
    this.#seq += 1;
    const { namespace = '', name = '', uid = '' } = pod ?? {};
    return {
      seq: this.#seq,
      attachment: { namespace, pod: name, provider, ordinal: 0 },
      podUid: uid,
      node: '',
      subnet: 'macvlan',
      addresses: [{ address: `10.0.0.${this.#seq}`, cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
      mac: '',
      interface: '',
      cause: 'ALLOCATION_CAUSE_DYNAMIC',
      routes: [],
      at: '',
      bindings: [],
      network: 'macvlan.default',
    };
  }
}
