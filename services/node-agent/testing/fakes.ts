/** Fakes for specs: the allocator, binding files, and requests to the agent. */
import { Metadata, status } from '@grpc/grpc-js';
import { pino } from 'pino';
import { errorCodeMetadata, IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import type {
  Allocation,
  AttachRequest,
  BindRequest,
  ListBindingsReply,
  ListBindingsRequest,
  ReportConflictRequest,
  SandboxBinding,
  UnbindRequest,
  WaitRequest,
} from '../../../proto/generated/ipledger.ts';
import type { BindingClient, BindResult } from '../bindings/binding-client.ts';
import type { NicDataPath } from '../requests/add.ts';
import type { AddressProbe } from '../requests/address-probe.ts';
import {
  type BindingFiles,
  type SavedBinding,
  type ContainerInterface,
  interfaceKey,
} from '../bindings/binding-files.ts';
import { LingeringBindings } from '../bindings/lingering-bindings.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { NamespaceState } from '../network-namespace.ts';
import { type CniRequest, parseCniRequest } from '../daemon/plugin-request.ts';

export { neverAborted, rejectionOf } from '../../../lib/process/testing/awaited-work.ts';

/** The allocation of Pod default/p in the network macvlan.default. */
export const allocation: Allocation = {
  seq: 7,
  podUid: 'u-1',
  node: '',
  subnet: 'macvlan',
  addresses: [{ address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }],
  mac: '',
  interface: '',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  routes: [],
  at: '',
  bindings: [],
  network: 'macvlan.default',
};

/** Makes a request of container c1, interface net1, of Pod default/p. */
export const request = (changes: object = {}): CniRequest =>
  parseCniRequest(
    'add',
    JSON.stringify({
      cni_type: 'macvlan',
      pod_name: 'p',
      pod_namespace: 'default',
      container_id: 'c1',
      net_ns: '/ns',
      if_name: 'net1',
      provider: 'macvlan.default',
      pod_uid: 'u-1',
      ...changes,
    }),
  );

/** Makes a binding in a reply to ListBindings. */
export const sandboxBinding = (containerId: string, bootId = 'b-1', provider = 'macvlan.default'): SandboxBinding => ({
  attachment: { namespace: 'default', pod: `pod-of-${containerId}`, provider, ordinal: 0 },
  subnet: 'macvlan',
  allocationSeq: 7,
  addresses: ['172.17.0.11'],
  binding: { containerId, interface: 'net1', node: 'node-a', bootId, at: '' },
});

/** Functions that run before each reply, and may throw. */
export interface Behaviour {
  attach?: () => void | Promise<void>;
  wait?: () => void | Promise<void>;
  bind?: () => void;
  unbind?: (request: MessageInput<UnbindRequest>) => void | Promise<void>;
  reportConflict?: () => void | Promise<void>;
  listBindings?: () => void | Promise<void>;
}

/** A binding client that records its requests. */
export class FakeBindingClient implements BindingClient {
  readonly attaches: MessageInput<AttachRequest>[] = [];
  readonly waits: MessageInput<WaitRequest>[] = [];
  readonly binds: MessageInput<BindRequest>[] = [];
  readonly unbinds: MessageInput<UnbindRequest>[] = [];
  readonly conflicts: MessageInput<ReportConflictRequest>[] = [];
  readonly lists: MessageInput<ListBindingsRequest>[] = [];
  /** The bindings of the node, returned in pages of two. */
  bindings: SandboxBinding[] = [];
  readonly behaviour: Behaviour;
  allocation: Allocation;
  /** The allocation in the reply to Bind, if it differs from the first. */
  bindResult: Allocation | undefined;
  /** Whether the Subnet has probeAddresses. */
  probeAddresses = false;
  /** The ledger's epoch. */
  epoch = 1;

  constructor(behaviour: Behaviour = {}, allocated: Allocation = allocation) {
    this.behaviour = behaviour;
    this.allocation = allocated;
  }

  async attach(message: MessageInput<AttachRequest>): Promise<BindResult> {
    this.attaches.push(message);
    await this.behaviour.attach?.();
    return this.#result(this.allocation);
  }

  async wait(message: MessageInput<WaitRequest>): Promise<BindResult> {
    this.waits.push(message);
    await this.behaviour.wait?.();
    return this.#result(this.allocation);
  }

  async bind(message: MessageInput<BindRequest>): Promise<BindResult> {
    this.binds.push(message);
    this.behaviour.bind?.();
    return Promise.resolve(this.#result(this.bindResult ?? this.allocation));
  }

  async unbind(message: MessageInput<UnbindRequest>): Promise<void> {
    this.unbinds.push(message);
    await this.behaviour.unbind?.(message);
  }

  async reportConflict(message: MessageInput<ReportConflictRequest>): Promise<void> {
    this.conflicts.push(message);
    await this.behaviour.reportConflict?.();
  }

  #result(result: Allocation): BindResult {
    return { allocation: result, epoch: this.epoch, probeAddresses: this.probeAddresses };
  }

  async listBindings(message: MessageInput<ListBindingsRequest>): Promise<ListBindingsReply> {
    this.lists.push(message);
    const first = Number(message.pageToken ?? '');
    const page = this.bindings.slice(first, first + 2);
    await this.behaviour.listBindings?.();
    return {
      position: { epoch: this.epoch, seq: 7, hash: '' },
      bindings: page,
      nextPageToken: first + 2 < this.bindings.length ? String(first + 2) : '',
    };
  }
}

/** A probe that no host answers. */
export const unansweredProbe: AddressProbe = () => Promise.resolve(undefined);

/** Makes the binding file of a container of Pod default/p. */
export const savedBinding = (containerId: string, changes: Partial<SavedBinding> = {}): SavedBinding => ({
  namespace: 'default',
  pod: 'p',
  podUid: 'u-1',
  provider: 'macvlan.default',
  containerId,
  interface: 'net1',
  addresses: ['172.17.0.11'],
  netns: '/run/netns/of-the-sandbox',
  netnsFolder: '',
  boundAs: '',
  isDeleted: false,
  isPending: false,
  epoch: 1,
  ...changes,
});

/** Keeps binding files in memory. */
export function fakeBindingFiles(
  ...saved: readonly SavedBinding[]
): BindingFiles & { record: { epoch: number | undefined; discards: number; readonly repeatedDiscards: number } } {
  const files = new Map(saved.map((each) => [interfaceKey(each), each]));
  const record = {
    epoch: 1 as number | undefined,
    discards: 0,
    repeatedDiscards: 0,
    save: (epoch: number): Promise<void> => Promise.resolve(void (record.epoch = epoch)),
    repeatDiscard: (): Promise<void> => Promise.resolve(void record.repeatedDiscards++),
  };
  return {
    save: (binding) => Promise.resolve(void files.set(interfaceKey(binding), binding)),
    remove: (container) => Promise.resolve(void files.delete(interfaceKey(container))),
    get: (container) => files.get(interfaceKey(container)),
    all: () => [...files.values()],
    isOnDisk: () => false,
    record,
  };
}

/** Makes the lingering bindings of node-a, with a keyed mutex of their own. */
export const lingeringBindings = (
  allocator: BindingClient,
  files: BindingFiles,
  now = (): number => 0,
  stateOf = (): NamespaceState => 'exists',
): LingeringBindings =>
  new LingeringBindings({
    allocator,
    node: 'node-a',
    bootId: 'b-1',
    files,
    runExclusive: createKeyedMutex(),
    log: pino({ level: 'silent' }),
    now,
    namespaceState: stateOf,
  });

/** Throws `error` the first `times` times. */
export function failTimes(error: IpledgerError, times = Infinity): () => void {
  let remaining = times;
  return () => {
    if (remaining-- > 0) throw error;
  };
}

/**
 * Makes the error of a call that was sent, and whose reply was lost.
 * @param metadata of a reply that reports the loss
 */
export function lostReply(metadata = new Metadata()): IpledgerError {
  const details = 'connection lost';
  const cause = Object.assign(new Error(details), { code: status.UNAVAILABLE, details, metadata });
  return new IpledgerError('UNAVAILABLE', details, { cause });
}

/** Makes the error of an allocator whose connection to etcd was lost during an append. */
export function lostAppend(): IpledgerError {
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, 'UNAVAILABLE');
  return lostReply(metadata);
}

/** A data path that records its calls. */
export interface FakeDataPath extends NicDataPath {
  readonly attached: { request: CniRequest; allocation: Allocation }[];
  readonly detached: ContainerInterface[];
  /** An error with which `attach` fails. */
  attachError?: IpledgerError;
  /** An error with which `detach` fails. */
  detachError?: IpledgerError;
}

/** @param onAttach called when a NIC is made */
export function fakeDataPath(onAttach: () => void = () => undefined): FakeDataPath {
  const fake: FakeDataPath = {
    attached: [],
    detached: [],
    attach: (request, allocation) => {
      fake.attached.push({ request, allocation });
      onAttach();
      if (fake.attachError) return Promise.reject(fake.attachError);
      return Promise.resolve({ mac: '02:00:00:00:00:01', mtu: 1400, hostLink: 'c1_net1_h' });
    },
    detach: (container) => {
      fake.detached.push(container);
      return fake.detachError ? Promise.reject(fake.detachError) : Promise.resolve();
    },
    interfacesOf: () => [],
    findFaults: () => Promise.resolve([]),
    assertReady: () => Promise.resolve(),
  };
  return fake;
}
