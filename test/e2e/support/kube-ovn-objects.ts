/**
 * Makes objects in the form in which Kube-OVN's controller leaves them: its finalizers, labels and
 * annotations.
 */

/** The finalizer of Kube-OVN's controller. */
export const kubeOvnFinalizer = 'kubeovn.io/kube-ovn-controller';

/** An object for `kubectl apply`. */
export interface KubeOvnObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const kubeOvn = (
  kind: string,
  name: string,
  spec: object,
  labels: Readonly<Record<string, string>> = {},
): KubeOvnObject =>
  ({
    apiVersion: 'kubeovn.io/v1',
    kind,
    metadata: Object.assign({ name, labels }, { finalizers: [kubeOvnFinalizer] }),
    spec,
  }) as KubeOvnObject;

export const kubeOvnSubnet = (name: string, cidrBlock: string, more: object = {}): KubeOvnObject => {
  const gateway = cidrBlock
    .split(',')
    .map((cidr) => cidr.replace(/0?\/\d+$/, '1'))
    .join();
  const protocol = cidrBlock.includes(',') ? 'Dual' : 'IPv4';
  const spec = { cidrBlock, gateway, protocol, excludeIps: gateway.split(','), provider: `${name}.default` };
  return kubeOvn('Subnet', name, {
    ...spec,
    default: false,
    gatewayNode: '',
    natOutgoing: false,
    private: false,
    ...more,
  });
};

export const kubeOvnPool = (name: string, subnet: string, ips: readonly string[]): KubeOvnObject =>
  kubeOvn('IPPool', name, { subnet, ips, namespaces: [] });

export const kubeOvnVip = (name: string, subnet: string, v4ip: string): KubeOvnObject =>
  kubeOvn('Vip', name, { subnet, namespace: 'default', type: '', v4ip, v6ip: '', macAddress: '' });

export interface KubeOvnIpOptions {
  readonly pod: string;
  readonly provider: string;
  readonly subnet: string;
  readonly address: string;
  readonly mac?: string;
  readonly podType?: string;
  readonly reserved?: boolean;
}

export function kubeOvnIp({
  pod,
  provider,
  subnet,
  address,
  mac = '',
  podType = '',
  reserved = false,
}: KubeOvnIpOptions): KubeOvnObject {
  const [v4IpAddress = '', v6IpAddress = ''] = address.split(',');
  const labels = {
    'ovn.kubernetes.io/subnet': subnet,
    [subnet]: '',
    'ovn.kubernetes.io/ip_reserved': String(reserved),
  };
  const holder = { podName: pod, namespace: 'default', subnet, nodeName: 'node-1', podType, containerID: '' };
  const spec = { ...holder, ipAddress: address, v4IpAddress, v6IpAddress, macAddress: mac };
  const attached = { attachIps: [], attachMacs: [], attachSubnets: [] };
  return kubeOvn('IP', `${pod}.default.${provider}`, { ...spec, ...attached }, labels);
}

/** Makes the annotations of an allocated attachment. */
export const attachmentAnnotations = (
  provider: string,
  [address, cidr, gateway]: readonly [string, string, string],
  more: Readonly<Record<string, string>> = {},
) =>
  Object.fromEntries(
    Object.entries({ ip_address: address, cidr, gateway, allocated: 'true', ...more }).map(([key, value]) => [
      `${provider}.kubernetes.io/${key}`,
      value,
    ]),
  );

/** Makes a Pod on node-1. */
export function kubeOvnPod(name: string, annotations: Readonly<Record<string, string>>, owner?: object): KubeOvnObject {
  const metadata = { name, namespace: 'default', annotations, ...(owner && { ownerReferences: [owner] }) };
  const spec = { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'box', image: 'box' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubeOvnObject;
}
