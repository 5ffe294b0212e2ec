/** Makes a projection with an API server in memory and informers that follow it. */
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { Usage } from '../../../../proto/generated/ipledger.ts';
import { keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import type { PodEvent } from '../../kubernetes/event-recorder.ts';
import { LedgerPods } from '../../kubernetes/ledger-pods.ts';
import { type IpObject, ips as ipKind } from '../../kubernetes/objects/ip.ts';
import { ipPools, type PoolObject } from '../../kubernetes/objects/ip-pool.ts';
import { type Pod, toPod } from '../../kubernetes/objects/pod.ts';
import { type SubnetObject, toSubnet } from '../../kubernetes/objects/subnet.ts';
import { type VipObject, vips as vipKind } from '../../kubernetes/objects/vip.ts';
import type { VlanObject } from '../../kubernetes/objects/vlan.ts';
import type { HeldAllocation, ReservedAddress } from '../../ledger/ledger-events.ts';
import { FakeApi } from '../../testing/fake-api.ts';
import { appliedSubnet, FakeInformer, silentLogger } from '../../testing/fakes.ts';
import { Projection } from '../projection.ts';

export const usage: Usage = {
  family: 4,
  total: '253',
  inUse: '1',
  available: '252',
  inUseRange: '10.0.0.2',
  availableRange: '',
  cooldown: '0',
  reserved: '0',
  reservedRange: '',
  quarantined: '0',
  quarantinedRange: '',
  free: '',
};
export const podAt = (name: string) => `/api/v1/namespaces/default/pods/${name}`;
export const ipAt = (name: string) => `/apis/kubeovn.io/v1/ips/${name}`;
export const subnetAt = '/apis/kubeovn.io/v1/subnets/macvlan';

/** Makes a world whose informers follow the writes to the API server, as a watch does. */
export function createProjectionWorld(
  signal: AbortSignal,
  allocations: readonly HeldAllocation[],
  { log = silentLogger, schedulingWaitMs = 0, reservations = [] as ReservedAddress[] } = {},
) {
  const api = new FakeApi();
  const pods = new FakeInformer<Pod>();
  const ips = new FakeInformer<IpObject>();
  const subnets = new FakeInformer<SubnetObject>();
  const pools = new FakeInformer<PoolObject>();
  const vips = new FakeInformer<VipObject>();
  const requestedSeqs: number[] = [];
  const ledger = { usage: [usage], error: undefined as Error | undefined };
  const allocator = fakeLedgerClient({
    getSubnet: ({ name, minSeq = 0 }) => {
      requestedSeqs.push(minSeq);
      if (ledger.error) return Promise.reject(ledger.error);
      return { position: { epoch: 1, seq: minSeq, hash: '' }, subnet: { name, usage: ledger.usage } };
    },
    getPool: ({ name, minSeq }) => ({
      position: { epoch: 1, seq: minSeq, hash: '' },
      pool: { name, usage: ledger.usage },
    }),
  });
  api.onWrite = (path, object) => {
    if (path.includes('/vips/')) return vips.put(vipKind.parse(object));
    if (path.includes('/ippools/')) return pools.put(ipPools.parse(object));
    if (path.includes('/pods/')) pods.put(withAnnotationsOf(toPod(object)));
    else if (path.includes('/subnets/')) subnets.put(toSubnet(object));
    else if (object) ips.put(ipKind.parse(object));
    else ips.drop(ips.objects.get(path.slice(path.lastIndexOf('/') + 1)) as IpObject);
  };
  /** Keeps the identity of a verified launcher. */
  const withAnnotationsOf = (pod: Pod): Pod => ({
    ...pod,
    ...pods.objects.get(keyOf(pod)),
    annotations: pod.annotations,
  });
  const recorded: { pod: string; event: PodEvent }[] = [];
  const recordEvent = (pod: Pod, event: PodEvent): void => void recorded.push({ pod: pod.name, event });
  const options = {
    api,
    allocator,
    pods,
    ledgerPods: new LedgerPods(pods),
    ips,
    subnets,
    pools,
    vips,
    vlans: new FakeInformer<VlanObject>(),
    recordEvent,
    schedulingWaitMs,
    log,
    signal,
  };
  const projection = new Projection(options);
  const addPod = (pod: Pod): void => {
    api.put(podAt(pod.name), {
      metadata: { name: pod.name, namespace: 'default', uid: pod.uid, annotations: pod.annotations },
    });
    pods.objects.set(keyOf(pod), pod);
  };
  const addIp = (manifest: object): void => {
    const path = ipAt((manifest as { metadata: { name: string } }).metadata.name);
    api.put(path, manifest as Record<string, unknown>);
    const object = ipKind.parse(api.objects.get(path));
    ips.objects.set(object.name, object);
  };
  const snapshot = {
    seq: 50,
    allocations: allocations,
    subnets: [appliedSubnet('macvlan')],
    pools: [],
    reservations,
  };
  for (const reader of [projection.view, projection.vipUsers]) reader.onSnapshot(snapshot);
  const quiet = async (): Promise<void> => {
    for (let writes = -1; writes !== api.writes.length; await new Promise((resolve) => setTimeout(resolve, 15)))
      writes = api.writes.length;
  };
  return { api, pods, ips, subnets, pools, vips, requestedSeqs, ledger, recorded, projection, addPod, addIp, quiet };
}
