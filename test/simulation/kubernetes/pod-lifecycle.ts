/** The scheduler, and the collector of Pods whose Node is gone or out of service. */
import { asRecord, asRecords } from '../../../lib/kubernetes/untyped-json.ts';
import {
  type ClusterUser,
  isDeleting,
  nameOf,
  nodeOf,
  ownerOf,
  podsPath,
  reactToChanges,
  uidOf,
} from './cluster-user.ts';
import type { SimulatedNode } from './node.ts';
import { hasEnded } from './pod-identity.ts';

/** A finalizer of another controller, which removes it from a Pod that is being deleted. */
export const foreignFinalizer = 'example.com/accounting';
const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

export function runPodLifecycle(nodes: readonly SimulatedNode[], user: ClusterUser): void {
  const [first] = nodes;
  if (!first) return;
  const random = first.world.random('pod lifecycle');
  reactToChanges(first.world, user.model, random, () => {
    const registered = new Map(
      user.model.objectsOf({ kind: '/api/v1/nodes', namespace: undefined }).map((node) => [nameOf(node), node]),
    );
    const usable = nodes.filter(({ name, isOn }) => isOn && registered.has(name));
    for (const pod of user.pods()) {
      const path = `${podsPath}/${nameOf(pod)}`;
      const node = registered.get(nodeOf(pod));
      const taints = asRecords(asRecord(node?.['spec'])['taints']);
      if (nodeOf(pod) === '') {
        // KubeVirt keeps the launchers of one machine apart. A scheduler ignores those that have
        // ended.
        const { uid } = ownerOf(pod);
        const taken = new Set(
          user
            .pods()
            .filter((each) => uid !== undefined && ownerOf(each)['uid'] === uid && !hasEnded(each))
            .map(nodeOf),
        );
        const isLauncher = ownerOf(pod)['kind'] === 'VirtualMachineInstance';
        const fitting = usable.filter(({ name }) => !isLauncher || !taken.has(name));
        const target = { kind: 'Node', name: fitting.length > 0 ? random.pick(fitting).name : '' };
        if (target.name !== '' && !isDeleting(pod))
          user.try('POST', `${path}/binding`, { metadata: { uid: uidOf(pod) }, target });
      } else if (!node || taints.some(({ key }) => key === outOfServiceTaint)) user.deletePod(nameOf(pod), 0);
      const finalizers = pod.metadata['finalizers'];
      if (isDeleting(pod) && Array.isArray(finalizers) && finalizers.length > 0 && random.nextBoolean(0.3))
        user.try('PATCH', path, { metadata: { uid: uidOf(pod), finalizers: [] } });
    }
  });
}

/** Makes the Node object, as a kubelet does at its start. */
export function registerNode(user: ClusterUser, name: string, index: number): void {
  const address = { type: 'InternalIP', address: `192.168.0.${index + 1}` };
  user.try('POST', '/api/v1/nodes', { metadata: { name }, spec: {} });
  user.try('PATCH', `/api/v1/nodes/${name}/status`, { status: { addresses: [address] } });
}

/** An operator declares that the machine is down; or that it is back. */
export function setOutOfService(user: ClusterUser, node: string, isOut: boolean): void {
  const taint = { key: outOfServiceTaint, value: 'nodeshutdown', effect: 'NoExecute' };
  user.try('PATCH', `/api/v1/nodes/${node}`, { spec: { taints: isOut ? [taint] : [] } });
}
