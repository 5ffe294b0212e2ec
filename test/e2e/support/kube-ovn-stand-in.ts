/**
 * A stand-in of Kube-OVN's controller: it writes spec, finalizers and status of each Subnet,
 * allocates addresses to Pods of networks with `ipam.type: kube-ovn`, and records each IP object of
 * kubeovn.io that it did not make.
 */
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { pause } from '../../../lib/process/abortable.ts';
import type { KubernetesClient, KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { textOf } from '../../harness/json.ts';
import { networksAnnotation } from './test-environment.ts';

const finalizer = 'kubeovn.io/kube-ovn-controller';
const pauseMs = 50;

export interface KubeOvnStandIn {
  /** The IP objects of kubeovn.io that another program made. */
  readonly strangers: ReadonlySet<string>;
  /** Rejects when the stand-in has failed. */
  readonly ended: Promise<void>;
}

/** Runs until the signal is aborted. Its Subnets share the network 172.17.0.0/24. */
export function startKubeOvnStandIn(kubernetes: KubernetesClient, signal: AbortSignal): KubeOvnStandIn {
  const strangers = new Set<string>();
  const given = new Map<string, string>();

  const allocate = async (pod: KubeObject): Promise<void> => {
    const { name, annotations = {} } = pod.metadata;
    const network = annotations[networksAnnotation] ?? '';
    const primary = {
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/ip_address': '10.16.0.9',
      'ovn.kubernetes.io/logical_switch': 'ovn-default',
    };
    const definition = network === '' ? undefined : await kubernetes.get('NetworkAttachmentDefinition', network);
    const isOurs = textOf(definition?.spec?.['config']).includes('"type":"kube-ovn"');
    if (isOurs) given.set(name, given.get(name) ?? `172.17.0.${given.size + 2}`);
    const key = `${network}.default.kubernetes.io`;
    const own = isOurs && { [`${key}/ip_address`]: given.get(name), [`${key}/allocated`]: 'true' };
    if (annotations['ovn.kubernetes.io/allocated'] !== 'true')
      await kubernetes.patch('Pod', name, { metadata: { annotations: { ...primary, ...own } } });
  };

  const write = async ({ metadata: { name, finalizers = [] }, spec = {}, status = {} }: KubeObject): Promise<void> => {
    if (!finalizers.includes(finalizer) || spec['enableLb'] === undefined)
      await kubernetes.patch('Subnet', name, { metadata: { finalizers: [finalizer] }, spec: { enableLb: true } });
    const v4usingIPrange = [...given.values()].join(',');
    if (status['v4usingIPrange'] === v4usingIPrange) return;
    const conditions = [{ type: 'Ready', status: 'True', reason: 'SetNonOvnSubnetSuccess' }];
    const body = { status: { v4usingIPs: given.size, v4usingIPrange, conditions } };
    await kubernetes.patch('Subnet', name, body, 'status');
  };

  const reconcile = async (): Promise<void> => {
    for (const pod of await kubernetes.list('Pod')) await allocate(pod);
    for (const subnet of await kubernetes.list('Subnet')) await write(subnet);
    for (const { metadata } of await kubernetes.list('IP')) strangers.add(metadata.name);
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      // Ignores API errors, as a controller: the API server rejects requests for new kinds.
      await reconcile().catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
      });
      await pause(pauseMs, signal);
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  ended.catch(() => undefined); // a test awaits it
  return { strangers, ended };
}
