/** What the Kubernetes API shows. */
import type { Kubernetes } from '../kubernetes.ts';
import type { ClusterPicture, IpObject, Pod, SubnetObject } from './picture.ts';
import { type Fields, fields, text } from '../raw.ts';

const paths = {
  pods: '/api/v1/pods',
  ips: '/apis/kubeovn.io/v1/ips',
  subnets: '/apis/kubeovn.io/v1/subnets',
  networks: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
};

/**
 * All objects that show an address, or want one.
 * @throws Failure when the API cannot be read.
 */
export async function readCluster(kubernetes: Pick<Kubernetes, 'list'>): Promise<ClusterPicture> {
  const [pods, ips, subnets, networks] = await Promise.all(
    [paths.pods, paths.ips, paths.subnets, paths.networks].map((path) => kubernetes.list(path)),
  );
  return {
    pods: (pods ?? []).map(podOf),
    ips: (ips ?? []).map(ipOf),
    subnets: (subnets ?? []).map(subnetOf),
    networks: new Map((networks ?? []).map(networkOf)),
  };
}

function podOf(item: Fields): Pod {
  const [metadata, spec, status] = [fields(item['metadata']), fields(item['spec']), fields(item['status'])];
  const all = Object.entries(fields(metadata['annotations'])).map(([key, value]) => [key, text(value)] as const);
  const annotations = Object.fromEntries(all);
  const hash = annotations['kubernetes.io/config.hash'] ?? '';
  const mirror = (annotations['kubernetes.io/config.mirror'] ?? '') !== '';
  const deletion = text(metadata['deletionTimestamp']);
  const grace = spec['terminationGracePeriodSeconds'];
  return {
    namespace: text(metadata['namespace']),
    name: text(metadata['name']),
    identity: mirror && hash !== '' ? hash : text(metadata['uid']),
    hostNetwork: spec['hostNetwork'] === true,
    restartPolicy: text(spec['restartPolicy']),
    phase: text(status['phase']),
    reason: text(status['reason']),
    deletionAt: deletion === '' ? undefined : Date.parse(deletion),
    graceSeconds: typeof grace === 'number' ? grace : 30,
    annotations,
  };
}

function ipOf(item: Fields): IpObject {
  const metadata = fields(item['metadata']);
  const allocation = text(fields(metadata['annotations'])['ipledger.io/allocation']);
  return { name: text(metadata['name']), allocation, spec: fields(item['spec']) };
}

const subnetOf = (item: Fields): SubnetObject => ({
  name: text(fields(item['metadata'])['name']),
  status: fields(item['status']),
});

function networkOf(item: Fields): [string, string] {
  const { namespace, name } = fields(item['metadata']);
  return [`${text(namespace)}/${text(name)}`, text(fields(item['spec'])['config'])];
}
