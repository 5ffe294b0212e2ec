/**
 * What must hold when nothing happens any more: each Pod has its addresses or there is none for it,
 * what Kubernetes shows is what the ledger has, and no allocation or binding is left without owner.
 */
import type { Allocation, SandboxBinding } from '../../../proto/generated/ipledger.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import { allocationAnnotation } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import { providerOf } from './cni-plugin.ts';
import { hasLivingPod, identityOf, isLiving, requestedNetworks, usesHostNetwork } from './pod-identity.ts';
import type { NetworkName, SimulatedCluster } from './cluster.ts';
import { type ClusterUser, isDeleting, nameOf, namespace, nodeOf, ownerOf, uidOf } from './cluster-user.ts';
import type { StoredObject } from './api-server.ts';
import type { BindingFile } from '../../../lib/binding-file.ts';
import type { SimulatedNode } from './node.ts';
import type { Nic } from './nics-in-use.ts';
import { lingeringFiles, wrongFiles } from './node-files.ts';

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
    ...ledger.allocations.flatMap((allocation) => leaked(cluster, allocation, ledger)),
    ...ledger.bindings.flatMap((bound) => withoutSandbox(cluster, bound)),
    ...withoutBinding(cluster, ledger),
    ...wrongIpObjects(cluster, ledger),
    ...wrongSubnetStatus(cluster, ledger),
    ...cluster.nodes.flatMap((node) => wrongFiles(node, lingeringOn(cluster, node))),
  ];
}

const lingeringOn = ({ user }: SimulatedCluster, node: SimulatedNode): readonly BindingFile[] =>
  lingeringFiles(node, (pod) => hasLivingPod(user.pods(), pod));

const allocationsOf = ({ allocations }: LedgerView, { name, uid }: { readonly name: string; readonly uid: string }) =>
  allocations.filter(({ attachment, podUid }) => attachment?.pod === name && podUid === uid);

function unserved(cluster: SimulatedCluster, pod: StoredObject, ledger: LedgerView): string[] {
  const annotations = asRecord(pod.metadata['annotations']);
  const requested = requestedNetworks(pod) as NetworkName[];
  const held = allocationsOf(ledger, identityOf(pod));
  const named = `Pod ${nameOf(pod)} (${uidOf(pod)})`;
  const missing = requested.filter(
    (network) => !held.some(({ attachment }) => attachment?.provider === providerOf(network)),
  );
  if (missing.length > 0)
    return missing.every((network) => canServe(network, annotations, ledger)) && !sharesName(cluster, pod, ledger)
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
  const sandboxes = cluster.nodes.flatMap(({ name, sandboxes: all }) =>
    name === nodeOf(pod) ? [...all.values()] : [],
  );
  const own = sandboxes.find(({ uid, state }) => state === 'ready' && [uidOf(pod), identityOf(pod).uid].includes(uid));
  if (!own) return [...shown, `${named} has no container`];
  const isHeld = (nic: Nic): boolean =>
    held.some(
      ({ attachment, addresses }) =>
        attachment?.provider === nic.provider && addresses.some(({ address }) => nic.addresses.includes(address)),
    );
  const wrong = used.filter((nic) => !isHeld(nic)).map(({ addresses }) => `${named} uses ${addresses.join(',')}`);
  const isUsed = ({ interface: name }: { readonly interface: string }): boolean =>
    used.some((nic) => nic.interface === name && nic.containerId === own.id);
  const unused = own.nics.filter((nic) => !isUsed(nic)).map((nic) => `${named} does not use ${nic.interface}`);
  const unwanted = held
    .filter(({ attachment }) => !requested.some((network) => providerOf(network) === attachment?.provider))
    .filter(({ attachment }) => !used.some(({ provider }) => provider === attachment?.provider))
    .map(({ attachment }) => `${named} holds an address of ${attachment?.provider}, which it does not request`);
  return [...shown, ...wrong, ...unused, ...unwanted];
}

/** Whether a Pod or a machine of the same name in the ledger lives, or keeps addresses. */
function sharesName({ user }: SimulatedCluster, pod: StoredObject, { allocations }: LedgerView): boolean {
  const { name, uid } = identityOf(pod);
  const others = [
    ...user.pods().map(identityOf),
    ...allocations.map(({ attachment, podUid }) => ({ name: attachment?.pod, uid: podUid })),
  ];
  return others.some((other) => other.name === name && other.uid !== uid);
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
  return !isMacTaken && candidates.some((address) => usable[network].includes(address) && !taken.has(address));
}

/**
 * Whether the next Pod of the name may take the allocation over, once another Pod has ended: it
 * requests this network and waits for what that one holds.
 */
function isAwaited({ user }: SimulatedCluster, { attachment }: Allocation, ledger: LedgerView): boolean {
  const name = attachment?.pod ?? '';
  const allocations = ledger.allocations.filter((other) => other.attachment?.pod !== name);
  return user
    .pods()
    .filter((pod) => isLiving(pod) && identityOf(pod).name === name)
    .some((pod) => {
      const annotations = asRecord(pod.metadata['annotations']);
      const held = allocationsOf(ledger, identityOf(pod)).map((own) => own.attachment?.provider);
      const requested = requestedNetworks(pod) as NetworkName[];
      const missing = requested.filter((network) => !held.includes(providerOf(network)));
      const waits = (network: NetworkName): boolean =>
        canServe(network, annotations, { allocations: [], bindings: [] }) &&
        !canServe(network, annotations, { ...ledger, allocations });
      return missing.some((network) => providerOf(network) === attachment?.provider) && missing.some(waits);
    });
}

/**
 * Each allocation has a living Pod, an owner that will create its Pod again, or a next Pod of its
 * name that can take it over and waits for another Pod.
 */
function leaked(cluster: SimulatedCluster, allocation: Allocation, ledger: LedgerView): string[] {
  const { user } = cluster;
  const { attachment, podUid, owner, addresses } = allocation;
  const name = attachment?.pod ?? '';
  const isHeld = hasLivingPod(user.pods(), { name, uid: podUid });
  const usesNodeNetwork = user
    .pods()
    .some((pod) => isLiving(pod) && nameOf(pod) === name && usesHostNetwork(pod) && ownerOf(pod)['uid'] === owner?.uid);
  const sets = user.model.objectsOf({ kind: '/apis/apps/v1/statefulsets', namespace });
  const isMember = sets.some(
    (set) =>
      owner?.kind === 'StatefulSet' &&
      !usesNodeNetwork &&
      uidOf(set) === owner.uid &&
      Number(name.slice(owner.name.length + 1)) < Number(asRecord(set['spec'])['replicas']),
  );
  const machines = user.model.objectsOf({ kind: '/apis/kubevirt.io/v1/virtualmachines', namespace });
  const isMachine = owner?.kind === 'VirtualMachineInstance' && machines.some((machine) => nameOf(machine) === name);
  if (isHeld || isMember || isMachine || isAwaited(cluster, allocation, ledger)) return [];
  return [
    `${addresses.map(({ address }) => address).join(',')} is allocated to ${name} (${podUid}), which does not exist`,
  ];
}

function withoutSandbox(cluster: SimulatedCluster, { binding, addresses }: SandboxBinding): string[] {
  const node = cluster.nodes.find(({ name }) => name === binding?.node);
  const sandbox = node?.sandboxes.get(binding?.containerId ?? '');
  const isRunning = sandbox?.state === 'ready' && sandbox.boot === node?.boot && binding?.bootId === node.bootId;
  const isOfBinding = ({ boundAs, containerId, interface: name }: BindingFile): boolean =>
    (boundAs || containerId) === binding?.containerId && name === binding.interface;
  const lingers = node !== undefined && lingeringOn(cluster, node).some(isOfBinding);
  return isRunning || lingers
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
    .map(({ spec, metadata }) => {
      const allocation = asText(asRecord(metadata['annotations'])[allocationAnnotation]);
      const { podName, ipAddress, nodeName } = asRecord(spec);
      return `${asText(podName)} ${asText(ipAddress)} of event ${allocation} on ${asText(nodeName)}`;
    });
  const held = allocations.map((allocation) => shownAs(user, allocation));
  const known = new Set(held.flat());
  return [
    ...shown.filter((each) => !known.has(each)).map((each) => `IP object of ${each} has no allocation`),
    ...held.filter((each) => !each.some((one) => shown.includes(one))).map(([one]) => `${one} has no IP object`),
  ];
}

/**
 * What its IP object may show: the Node of its Pod. Of two launchers it is that of the last
 * binding.
 */
function shownAs(user: ClusterUser, { attachment, podUid, addresses, seq, node: lastNode }: Allocation): string[] {
  const owners = user
    .pods()
    .filter((pod) => identityOf(pod).uid === podUid && identityOf(pod).name === attachment?.pod);
  const nodes = owners.map(nodeOf).filter((node) => node !== '');
  const address = addresses.map((each) => each.address).join(',');
  const shown = (node: string): string => `${attachment?.pod} ${address} of event ${seq} on ${node}`;
  return nodes.includes(lastNode) || nodes.length === 0 ? [shown(lastNode)] : nodes.map(shown);
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
