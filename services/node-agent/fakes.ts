/** For specs: an allocator that is played, and requests to the agent. */
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { Input } from '../../proto/codec.ts';
import type {
  Allocation,
  BindRequest,
  ListBindingsReply,
  ListBindingsRequest,
  SandboxBinding,
  UnbindRequest,
  WaitRequest,
} from '../../proto/ipledger.ts';
import type { Allocator, BoundAt } from './allocator.ts';
import type { BindingFiles, KeptBinding } from './binding-files.ts';
import { turnOf } from './bindings.ts';
import { type CniRequest, parseRequest } from './wire.ts';

/** What Pod default/p holds of the network macvlan.default. */
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

/** The request of container c1, interface net1, of that Pod. */
export const request = (changes: object = {}): CniRequest =>
  parseRequest(
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

/** A binding as ListBindings gives it. */
export const bound = (containerId: string, bootId = 'b-1', provider = 'macvlan.default'): SandboxBinding => ({
  attachment: { namespace: 'default', pod: `pod-of-${containerId}`, provider, ordinal: 0 },
  subnet: 'macvlan',
  allocationSeq: 7,
  addresses: ['172.17.0.11'],
  binding: { containerId, interface: 'net1', node: 'node-a', bootId, at: '' },
});

/** How each call goes; it may throw. */
export interface Behaviour {
  wait?: () => void | Promise<void>;
  bind?: () => void;
  unbind?: (request: Input<UnbindRequest>) => void | Promise<void>;
  listBindings?: () => void | Promise<void>;
}

/** Records what it was asked. */
export class FakeAllocator implements Allocator {
  readonly waits: Input<WaitRequest>[] = [];
  readonly binds: Input<BindRequest>[] = [];
  readonly unbinds: Input<UnbindRequest>[] = [];
  readonly lists: Input<ListBindingsRequest>[] = [];
  /** In pages of two. */
  bindings: SandboxBinding[] = [];
  readonly behave: Behaviour;
  has: Allocation;
  /** What Bind answers, where it is another allocation. */
  bindGives: Allocation | undefined;
  /** The ledger's. */
  epoch = 1;

  constructor(behave: Behaviour = {}, has: Allocation = allocation) {
    this.behave = behave;
    this.has = has;
  }

  async wait(asked: Input<WaitRequest>): Promise<Allocation> {
    this.waits.push(asked);
    await this.behave.wait?.();
    return this.has;
  }

  async bind(asked: Input<BindRequest>): Promise<BoundAt> {
    this.binds.push(asked);
    this.behave.bind?.();
    return Promise.resolve({ allocation: this.bindGives ?? this.has, epoch: this.epoch });
  }

  async unbind(asked: Input<UnbindRequest>): Promise<void> {
    this.unbinds.push(asked);
    await this.behave.unbind?.(asked);
  }

  async listBindings(asked: Input<ListBindingsRequest>): Promise<ListBindingsReply> {
    this.lists.push(asked);
    const first = Number(asked.pageToken ?? '');
    const page = this.bindings.slice(first, first + 2);
    await this.behave.listBindings?.();
    return {
      position: { epoch: this.epoch, seq: 7, hash: '' },
      bindings: page,
      nextPageToken: first + 2 < this.bindings.length ? String(first + 2) : '',
    };
  }
}

/** What the file of a container of Pod default/p holds. */
export const kept = (containerId: string, changes: Partial<KeptBinding> = {}): KeptBinding => ({
  namespace: 'default',
  pod: 'p',
  podUid: 'u-1',
  provider: 'macvlan.default',
  containerId,
  interface: 'net1',
  addresses: ['172.17.0.11'],
  epoch: 1,
  ...changes,
});

/** Files that stand in memory alone. */
export function fakeFiles(...kept: readonly KeptBinding[]): BindingFiles {
  const files = new Map(kept.map((each) => [turnOf(each), each]));
  return {
    keep: (binding) => Promise.resolve(void files.set(turnOf(binding), binding)),
    drop: (container) => Promise.resolve(void files.delete(turnOf(container))),
    of: (container) => files.get(turnOf(container)),
    all: () => [...files.values()],
  };
}

/** A signal that is never aborted. */
export const never = (): AbortSignal => new AbortController().signal;

/** Throws `error` the first `times` times. */
export function failing(error: IpledgerError, times = Infinity): () => void {
  let left = times;
  return () => {
    if (left-- > 0) throw error;
  };
}

/** The error with which it fails. */
export async function refusal(work: Promise<unknown>): Promise<IpledgerError> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  expect(outcome).to.be.instanceOf(IpledgerError);
  return outcome as IpledgerError;
}
