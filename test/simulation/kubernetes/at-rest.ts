/**
 * What must hold when nothing happens any more: each Pod has its addresses or there is none for it,
 * what Kubernetes shows is what the ledger has, and no allocation or binding is left without owner.
 */
import type { Allocation, SandboxBinding } from '../../../proto/generated/ipledger.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import { providerOf } from './cni-plugin.ts';
import { identityOf, isLiving } from './pod-identity.ts';
import type { NetworkName, SimulatedCluster } from './cluster.ts';
import { isDeleting, nameOf, namespace, networksAnnotation, nodeOf, uidOf } from './cluster-user.ts';
import type { StoredObject } from './api-server.ts';

/** What the allocators report. */
export interface LedgerView {
  readonly allocations: readonly Allocation[];
  readonly bindings: readonly SandboxBinding[];
}

/** The addresses that Pods can get in each network. */
const usable: Readonly<Record<NetworkName, readonly string[]>> = {
  macvlan: Array.from({ length: 10 }, (_, index) => `10.0.0.${index + 5}`),
  lan: Array.from({ length: 5 }, (_, index) => `10.1.0.${index + 2}`),
};

/** Lists what does not hold yet; empty at rest. */
export function unrest(cluster: SimulatedCluster, ledger: LedgerView): string[] {
  const pods = cluster.user.pods();
  return [
    ...pods.filter(isLiving).flatMap((pod) => unserved(cluster, pod, ledger)),
    ...pods.filter(isDeleting).map((pod) => `Pod ${nameOf(pod)} is still being deleted`),
    ...cluster.nodes.flatMap(({ name, manifests }) =>
      [...manifests.values()].flatMap((manifest) =>
        pods.some((pod) => nameOf(pod) === `${manifest.name}-${name}`)
          ? []
          : [`static Pod ${manifest.name} of ${name} has no mirror`],
      ),
    ),
    ...ledger.allocations.flatMap((allocation) => leaked(cluster, allocation)),
    ...ledger.bindings.flatMap((bound) => withoutSandbox(cluster, bound)),
    ...withoutBinding(cluster, ledger),
    ...wrongIpObjects(cluster, ledger),
    ...wrongSubnetStatus(cluster, ledger),
  ];
}

const allocationsOf = ({ allocations }: LedgerView, { name, uid }: { readonly name: string; readonly uid: string }) =>
  allocations.filter(({ attachment, podUid }) => attachment?.pod === name && podUid === uid);

function unserved(cluster: SimulatedCluster, pod: StoredObject, ledger: LedgerView): string[] {
  const annotations = asRecord(pod.metadata['annotations']);
  const requested = asText(annotations[networksAnnotation]).split(',') as NetworkName[];
  const held = allocationsOf(ledger, identityOf(pod));
  const named = `Pod ${nameOf(pod)} (${uidOf(pod)})`;
  const missing = requested.filter(
    (network) => !held.some(({ attachment }) => attachment?.provider === providerOf(network)),
  );
  if (missing.length > 0)
    return missing.every((network) => canServe(network, annotations, ledger))
      ? [`${named} waits although there is an address for it`]
      : [];
  const shown = held.flatMap(({ attachment, addresses, mac }) => {
    const key = (suffix: string): unknown => annotations[`${attachment?.provider}.kubernetes.io/${suffix}`];
    const address = addresses.map((each) => each.address).join(',');
    const isRight =
      key('ip_address') === address && key('allocated') === 'true' && (mac === '' || key('mac_address') === mac);
    return isRight ? [] : [`${named} shows ${String(key('ip_address'))} and has ${address}`];
  });
  if (nodeOf(pod) === '') return [...shown, `${named} has no node`];
  const used = cluster.nics.all.filter(({ node, pod: key, uid }) => {
    const { name, uid: ledgerUid } = identityOf(pod);
    return node === nodeOf(pod) && key === `${namespace}/${name}` && uid === ledgerUid;
  });
  return [
    ...shown,
    ...(used.length === held.length ? [] : [`${named} uses ${used.length} of ${held.length} addresses`]),
  ];
}

/** Whether the network has an address for the request that no allocation and no binding holds. */
function canServe(
  network: NetworkName,
  annotations: Readonly<Record<string, unknown>>,
  { allocations, bindings }: LedgerView,
): boolean {
  const key = (suffix: string): string => asText(annotations[`${providerOf(network)}.kubernetes.io/${suffix}`]);
  const requested = key('ip_address') || key('ip_pool');
  const candidates = requested === '' ? usable[network] : requested.split(',');
  const taken = new Set([
    ...allocations.flatMap(({ addresses }) => addresses.map(({ address }) => address)),
    ...bindings.flatMap(({ addresses }) => addresses),
  ]);
  const mac = key('mac_address');
  const isMacTaken = mac !== '' && allocations.some((allocation) => allocation.mac === mac);
  return !isMacTaken && candidates.some((address) => !taken.has(address));
}

/** Each allocation has a living Pod, or an owner that will create its Pod again. */
function leaked({ user }: SimulatedCluster, { attachment, podUid, owner, addresses }: Allocation): string[] {
  const name = attachment?.pod ?? '';
  const isHeld = user
    .pods()
    .some((pod) => isLiving(pod) && identityOf(pod).name === name && identityOf(pod).uid === podUid);
  const sets = user.model.objectsOf({ kind: '/apis/apps/v1/statefulsets', namespace });
  const isMember = sets.some(
    (set) =>
      owner?.kind === 'StatefulSet' &&
      uidOf(set) === owner.uid &&
      Number(name.slice(owner.name.length + 1)) < Number(asRecord(set['spec'])['replicas']),
  );
  const machines = user.model.objectsOf({ kind: '/apis/kubevirt.io/v1/virtualmachines', namespace });
  const isMachine = owner?.kind === 'VirtualMachineInstance' && machines.some((machine) => nameOf(machine) === name);
  if (isHeld || isMember || isMachine) return [];
  return [
    `${addresses.map(({ address }) => address).join(',')} is allocated to ${name} (${podUid}), which does not exist`,
  ];
}

function withoutSandbox({ nodes }: SimulatedCluster, { binding, addresses }: SandboxBinding): string[] {
  const node = nodes.find(({ name }) => name === binding?.node);
  const sandbox = node?.sandboxes.get(binding?.containerId ?? '');
  const isRunning = sandbox?.state === 'ready' && sandbox.boot === node?.boot && binding?.bootId === node.bootId;
  return isRunning
    ? []
    : [`${addresses.join(',')} is bound to ${binding?.containerId} on ${binding?.node}, which does not run`];
}

function withoutBinding({ nics }: SimulatedCluster, { bindings }: LedgerView): string[] {
  return nics.all
    .filter(({ node, containerId, interface: name }) =>
      bindings.every(
        ({ binding }) => binding?.node !== node || binding.containerId !== containerId || binding.interface !== name,
      ),
    )
    .map(
      ({ containerId, node, addresses }) => `${containerId} on ${node} uses ${addresses.join(',')} without a binding`,
    );
}

function wrongIpObjects({ user }: SimulatedCluster, { allocations }: LedgerView): string[] {
  const shown = user.model
    .objectsOf({ kind: '/apis/kubeovn.io/v1/ips', namespace: undefined })
    .map(({ spec }) => `${asText(asRecord(spec)['podName'])} ${asText(asRecord(spec)['ipAddress'])}`);
  const held = allocations.map(
    ({ attachment, addresses }) => `${attachment?.pod} ${addresses.map(({ address }) => address).join(',')}`,
  );
  return [
    ...shown.filter((each) => !held.includes(each)).map((each) => `IP object of ${each} has no allocation`),
    ...held.filter((each) => !shown.includes(each)).map((each) => `${each} has no IP object`),
  ];
}

function wrongSubnetStatus({ user }: SimulatedCluster, { allocations }: LedgerView): string[] {
  return user.model.objectsOf({ kind: '/apis/kubeovn.io/v1/subnets', namespace: undefined }).flatMap((object) => {
    const using = asRecord(object['status'])['v4usingIPs'];
    const held = allocations.filter(({ subnet }) => subnet === nameOf(object)).length;
    return using === held || (using === undefined && held === 0)
      ? []
      : [`Subnet ${nameOf(object)} shows ${String(using)} used addresses of ${held}`];
  });
}
