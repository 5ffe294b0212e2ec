/**
 * A Pod with a network of its own that is sent after whatever a case did: events of one kind arrive in order, so once it has its
 * address, the watcher has heard of every Pod before it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../services/pod-watcher/kubernetes/api.ts';
import { type KubeObject, type Objects } from './objects.ts';

const namespace = 'sentinels';
const network = 'sentinel';
const provider = `${network}.${namespace}`;
const pollMs = 10;
const patienceMs = 60_000;
let sent = 0;

export const sentinel = {
  /** Makes what sentinels need. */
  async prepare(objects: Objects): Promise<void> {
    await objects.create('Namespace', { name: namespace });
    const ipam = { type: 'kube-ovn', server_socket: '/nobody', provider };
    const config = JSON.stringify({ cniVersion: '1.0.0', type: 'macvlan', ipam });
    await objects.create('NetworkAttachmentDefinition', { namespace, name: network }, { spec: { config } });
    await objects.create('Subnet', { name: network }, { spec: { provider, cidrBlock: '100.127.0.0/16' } });
  },

  /** Whether an object stays when a case ends. */
  owns: ({ metadata }: KubeObject): boolean =>
    metadata.namespace === namespace || (metadata.namespace === undefined && metadata.name === network),

  /** Sends one, and resolves when it has its address. @throws Error when it gets none. */
  async pass(objects: Objects, signal: AbortSignal): Promise<void> {
    const name = `sentinel-${(sent += 1)}`;
    const annotations = { 'k8s.v1.cni.cncf.io/networks': network };
    await objects.create(
      'Pod',
      { namespace, name, annotations },
      { spec: { containers: [{ name: 'c', image: 'c' }] } },
    );
    const deadline = performance.now() + patienceMs;
    const which = { kind: 'Pod', namespace, name } as const;
    for (;;) {
      const pod = await objects.find(which);
      if (pod?.metadata.annotations?.[`${provider}.kubernetes.io/allocated`] === 'true') break;
      if (performance.now() > deadline) throw new Error('the watcher gives no addresses any more');
      await sleep(pollMs, undefined, { signal });
    }
    await objects.remove(which, 0).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
    });
  },
};
