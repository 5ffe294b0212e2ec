/** What specs put in the place of the API server and the allocator. */
import { pino } from 'pino';
import { pause } from '../../lib/deadline.ts';
import type { AllocateRequest, Allocation, ReleaseRequest, SandboxBinding } from '../../proto/ipledger.ts';
import type { Input } from '../../proto/codec.ts';
import { type Change, keyOf, type Named } from './kubernetes/list-watch.ts';
import { type SubnetObject, toSubnet } from './kubernetes/kept-objects.ts';
import { asMachine } from './kubernetes/launchers.ts';
import { type Pod, toPod } from './kubernetes/objects.ts';
import type { Holding, SubnetInForce } from './ledger/facts.ts';

export const silent = pino({ level: 'silent' });

/** Resolves once `condition` holds; if it never does, the runner's timeout ends the wait. */
export async function until(condition: () => boolean): Promise<void> {
  const never = new AbortController().signal;
  while (!condition()) await pause(2, never);
}

/** A source whose objects the spec puts in and takes out. */
export class FakeSource<T extends Named> {
  readonly objects = new Map<string, T>();
  readonly #listeners: ((change: Change<T>) => void)[] = [];

  subscribe(listener: (change: Change<T>) => void): void {
    this.#listeners.push(listener);
  }

  put(object: T): void {
    const before = this.objects.get(keyOf(object));
    this.objects.set(keyOf(object), object);
    this.tell({ kind: 'present', object, before });
  }

  drop(object: T, witnessed = true): void {
    this.objects.delete(keyOf(object));
    this.tell({ kind: 'gone', object, witnessed });
  }

  tell(change: Change<T>): void {
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

/** A Pod of namespace default. */
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

/** A Pod that names the VirtualMachineInstance vm1 as its controller, as any client can; `instance` is the uid that it names. */
export function claimant(
  suffix: string,
  { instance = 'uid-vm1', ...parts }: PodParts & { instance?: string } = {},
): Pod {
  const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: instance };
  const metadata = { ownerReferences: [{ ...machine, controller: true }], ...parts.metadata };
  return podNamed(`virt-launcher-vm1-${suffix}`, { ...parts, metadata });
}

/** One of the Pods in which KubeVirt runs the virtual machine vm1, after that was seen. */
export const launcher = (suffix: string, parts: PodParts & { instance?: string } = {}): Pod =>
  asMachine(claimant(suffix, parts));

/** A Subnet object that serves macvlan.default unless its spec says otherwise. */
export function subnetNamed(name: string, spec: object = {}, metadata: object = {}): SubnetObject {
  return toSubnet({
    metadata: { name, uid: `uid-${name}`, generation: 1, ...metadata },
    spec: { provider: 'macvlan.default', cidrBlock: '10.0.0.0/24', ...spec },
  });
}

/** A subnet as the ledger has it. */
export function inForce(name: string, provider = 'macvlan.default'): SubnetInForce {
  const spec = { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1', excludeIps: ['10.0.0.1'], provider, protocol: 'IPv4' };
  return { name, spec, source: { uid: `uid-${name}`, generation: 1 } };
}

/** What a Pod of namespace default holds. */
export function holding(pod: string, parts: Partial<Holding> = {}): Holding {
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
    ...parts,
  };
}

/** Says yes to everything, and remembers what it was asked; `refuse` makes it say no. */
export class FakeAllocator {
  readonly allocated: Input<AllocateRequest>[] = [];
  readonly released: Input<ReleaseRequest>[] = [];
  /** What is bound, on every node. */
  bindings: SandboxBinding[] = [];
  refuse: (() => Error | undefined) | undefined;
  #seq = 100;

  allocate(request: Input<AllocateRequest>) {
    this.allocated.push(request);
    const error = this.refuse?.();
    if (error) return Promise.reject(error);
    const allocations = (request.attachments ?? []).map((attachment) => this.#give(request, attachment.provider ?? ''));
    return Promise.resolve({ position: { epoch: 1, seq: this.#seq, hash: '' }, allocations });
  }

  release(request: Input<ReleaseRequest>) {
    this.released.push(request);
    const error = this.refuse?.();
    return error
      ? Promise.reject(error)
      : Promise.resolve({ position: { epoch: 1, seq: this.#seq, hash: '' }, released: 1 });
  }

  listBindings() {
    return Promise.resolve({ bindings: this.bindings, nextPageToken: '' });
  }

  #give({ pod }: Input<AllocateRequest>, provider: string): Allocation {
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
