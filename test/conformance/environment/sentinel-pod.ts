/**
 * A sentinel Pod, with a network of its own, that is created after the changes of a case. Watch
 * events of one kind arrive in order: when the sentinel has its address, the watcher has processed
 * every earlier Pod.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { type KubeObject, type KubernetesClient } from '../../harness/kubernetes/kubernetes-client.ts';

const namespace = 'sentinels';
const network = 'sentinel';
const provider = `${network}.${namespace}`;
const pollMs = 10;
const timeoutMs = 60_000;
let created = 0;

export const sentinel = {
  /** Creates the namespace, network and Subnet of sentinels. */
  async prepare(objects: KubernetesClient): Promise<void> {
    await objects.create({ kind: 'Namespace', metadata: { name: namespace } });
    const ipam = { type: 'kube-ovn', server_socket: '/nonexistent', provider };
    const config = JSON.stringify({ cniVersion: '1.0.0', type: 'macvlan', ipam });
    await objects.create({
      kind: 'NetworkAttachmentDefinition',
      metadata: { namespace, name: network },
      spec: { config },
    });
    await objects.create({
      kind: 'Subnet',
      metadata: { name: network },
      spec: { provider, cidrBlock: '100.127.0.0/16' },
    });
  },

  /** Whether an object belongs to the sentinels and stays between cases. */
  owns: ({ metadata }: KubeObject): boolean =>
    metadata.namespace === namespace || (metadata.namespace === undefined && metadata.name === network),

  /** Creates a sentinel. Resolves when it has its address. @throws Error after the timeout */
  async pass(objects: KubernetesClient, signal: AbortSignal): Promise<void> {
    const name = `sentinel-${(created += 1)}`;
    const annotations = { 'k8s.v1.cni.cncf.io/networks': network };
    await objects.create({
      kind: 'Pod',
      metadata: { namespace, name, annotations },
      spec: { containers: [{ name: 'c', image: 'c' }] },
    });
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const pod = await objects.find('Pod', `${namespace}/${name}`);
      if (pod?.metadata.annotations?.[`${provider}.kubernetes.io/allocated`] === 'true') break;
      if (performance.now() > deadline)
        throw new Error('the sentinel Pod has no address: see pod-watcher.log (KEEP=1)');
      await sleep(pollMs, undefined, { signal });
    }
    await objects.remove('Pod', `${namespace}/${name}`).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  },
};
