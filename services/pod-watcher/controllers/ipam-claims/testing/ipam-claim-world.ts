/** A controller of IPAMClaims with fakes of the API and the allocator, for its specs. */
import { fakeLedgerClient } from '../../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { IpledgerError } from '../../../../../lib/errors.ts';
import type { UntypedJson } from '../../../../../lib/kubernetes/untyped-json.ts';
import type { MessageInput } from '../../../../../proto/codec.ts';
import type { ReserveRequest, UnreserveRequest } from '../../../../../proto/generated/ipledger.ts';
import { appliedSubnet, FakeInformer, silentLogger, subnetNamed } from '../../../testing/fakes.ts';
import { LedgerPods } from '../../../kubernetes/ledger-pods.ts';
import { type IpamClaimObject, ipamClaims } from '../../../kubernetes/objects/ipam-claim.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { SubnetObject } from '../../../kubernetes/objects/subnet.ts';
import type { HeldAllocation, ReservedAddress } from '../../../ledger/ledger-events.ts';
import { AllocationCache } from '../../pods/allocation-cache.ts';
import { defaultNamespaceLimit, EventBudget } from '../../pods/event-budget.ts';
import type { IpamClaimDemand } from '../../pods/planning/ipam-claim-request.ts';
import { SubnetCache } from '../../subnets/subnet-cache.ts';
import { IpamClaimController } from '../ipam-claim-controller.ts';

export const finalizers = ['ipledger.io/ledger'];
/** Makes an IPAMClaim in namespace default. */
export const claim = (name: string, { spec = {}, metadata = {}, status = {} } = {}): IpamClaimObject =>
  ipamClaims.parse({
    metadata: { namespace: 'default', name, uid: `uid-${name}`, generation: 1, ...metadata },
    spec: { network: 'macvlan', interface: '', ...spec },
    status,
  });
/** The demand of a Pod for the IPAMClaim default/vm1. */
export const demand: IpamClaimDemand = {
  claim: 'default/vm1',
  network: 'macvlan',
  interface: '',
  subnets: ['macvlan', 'macvlan-2'],
  addresses: [],
  ipFamily: '',
};
export const reservedForVm1: ReservedAddress = {
  seq: 40,
  subnet: 'macvlan',
  address: '10.0.0.2',
  reservedFor: 'ipamclaim/default/vm1',
  reason: 'IPAMClaim default/vm1',
  mac: '',
};

export interface IpamClaimWorldOptions {
  readonly reservations?: readonly ReservedAddress[];
  readonly allocations?: readonly HeldAllocation[];
  readonly quota?: number;
  readonly cidrBlock?: string;
  /** The number of addresses that a namespace may request at once. */
  readonly burst?: number;
  /** The IPPool of each address, which is for other namespaces. */
  readonly pool?: string;
  /** Whether the API server serves the kind. */
  readonly isServed?: boolean;
}

/** Starts a controller with these IPAMClaims, and returns what it does. */
export async function createIpamClaimWorld(
  signal: AbortSignal,
  present: readonly IpamClaimObject[],
  {
    reservations = [],
    allocations = [],
    quota,
    pool = '',
    isServed = true,
    cidrBlock,
    burst,
  }: IpamClaimWorldOptions = {},
) {
  const objects = Object.assign(new FakeInformer<IpamClaimObject>(), { resourceVersion: isServed ? '1' : undefined });
  for (const object of present) objects.put(object);
  const pods = new FakeInformer<Pod>();
  const subnetObjects = new FakeInformer<SubnetObject>();
  subnetObjects.put(subnetNamed('macvlan'));
  const subnets = new SubnetCache(subnetObjects.objects);
  const cache = new AllocationCache();
  const reserved: MessageInput<ReserveRequest>[] = [];
  const unreserved: MessageInput<UnreserveRequest>[] = [];
  const created: IpamClaimDemand[] = [];
  const woken: string[] = [];
  const patches: UntypedJson[] = [];
  const statuses: UntypedJson[] = [];
  const events: string[] = [];
  const refusals = new Map<string, IpledgerError>();
  const failure: { create?: Error } = {};
  const controller = new IpamClaimController({
    objects,
    pods,
    ledgerPods: new LedgerPods(pods),
    allocator: fakeLedgerClient({
      reserve: (request) => {
        reserved.push(request);
        const refusal = refusals.get(request.subnet ?? '');
        const addresses = request.addresses?.length ? request.addresses : ['10.0.0.2'];
        return refusal ? Promise.reject(refusal) : { records: addresses.map((address) => ({ address })) };
      },
      unreserve: (request) => {
        unreserved.push(request);
        return {};
      },
      getAddress: () => ({ record: { pool } }),
    }),
    quota: { subnets, allocations: cache },
    budget: new EventBudget(burst === undefined ? defaultNamespaceLimit : { perSecond: 0.001, burst }),
    namespacesOfPool: () => ['shop'],
    ipamClaimOwnerOf: () => ({ apiVersion: 'v1', kind: 'Pod', name: 'vm', uid: 'u' }),
    create: (each) => {
      created.push(each);
      return failure.create ? Promise.reject(failure.create) : Promise.resolve();
    },
    wakeWaiters: (topic) => void woken.push(topic),
    write: (_object, body) => Promise.resolve(void patches.push(body)),
    writeStatus: (_object, body) => Promise.resolve(void statuses.push(body)),
    recordEvent: (_object, { reason, message }) => void events.push(`${reason}: ${message}`),
    log: silentLogger,
    signal,
  });
  const { spec, ...subnet } = appliedSubnet('macvlan');
  const limits = { ...(quota !== undefined && { maxAddressesPerNamespace: quota }), ...(cidrBlock && { cidrBlock }) };
  const limited = { ...subnet, spec: { ...spec, ...limits } };
  const snapshot = { seq: 50, allocations, subnets: [limited, appliedSubnet('macvlan-2')], pools: [], reservations };
  for (const subscriber of [subnets, cache, controller]) subscriber.onSnapshot(snapshot);
  await controller.start();
  return {
    controller,
    objects,
    pods,
    reserved,
    unreserved,
    created,
    woken,
    patches,
    statuses,
    events,
    refusals,
    failure,
  };
}
