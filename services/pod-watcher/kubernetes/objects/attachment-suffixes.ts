/**
 * The annotations of an attachment: "<provider>.kubernetes.io/<suffix>". The pod-watcher stores only these of a Pod's annotations,
 * and its planning and its projection name only these. docs/annotations.md describes each.
 */
export const attachmentSuffixes = [
  'ip_address',
  'mac_address',
  'cidr',
  'gateway',
  'allocated',
  'routed',
  'virtualmachine',
  'logical_router',
  'vlan_id',
  'provider_network',
  'pod_nic_type',
  'ip_pool',
  'ip_family',
  'logical_switch',
  'routes',
  'default_route',
  'ingress_rate',
  'ingress_burst',
  'egress_rate',
  'egress_burst',
] as const;

export type AttachmentSuffix = (typeof attachmentSuffixes)[number];

/** Results, which request nothing. `cidr` is a constraint without `allocated` beside it. */
export const resultSuffixes = [
  'allocated',
  'cidr',
  'gateway',
  'routed',
  'virtualmachine',
  'logical_router',
  'vlan_id',
  'provider_network',
] as const satisfies readonly AttachmentSuffix[];

/** What the pod-watcher writes. The admission policy of deploy/rbac.yaml permits it no others. */
export const writtenSuffixes = [
  ...resultSuffixes,
  'ip_address',
  'mac_address',
  'logical_switch',
  'pod_nic_type',
] as const satisfies readonly AttachmentSuffix[];

export type WrittenSuffix = (typeof writtenSuffixes)[number];

/** These may also end with an interface: "<provider>.kubernetes.io/ip_address.<interface>". */
const suffixesWithInterface: readonly AttachmentSuffix[] = ['ip_address', 'mac_address'];

const pattern = new RegExp(
  `\\.kubernetes\\.io/(?:(?:${suffixesWithInterface.join('|')})\\..+|${attachmentSuffixes.join('|')})$`,
);

/** Whether a key is one of an attachment's annotations. The plain search rejects most keys before the regular expression runs. */
export const isAttachmentKey = (key: string): boolean => key.includes('.kubernetes.io/') && pattern.test(key);
