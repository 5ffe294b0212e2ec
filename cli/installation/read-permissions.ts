/**
 * Reads whether the ServiceAccounts of ipledger still have their roles, and the pod-watcher its
 * rules.
 */
import { ownGroup } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { asRecord, asRecords, asText, asTexts, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import type { Permission } from './facts.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

interface Role {
  readonly name: string;
  readonly isClusterRole: boolean;
  /** "resource.group: verbs". Absent: the role is optional, and has to be bound if there is one. */
  readonly rules?: readonly string[];
}

/** The roles of deploy/rbac.yaml, with the rules without which the pod-watcher stops. */
export const roles: readonly Role[] = [
  {
    name: 'ipledger-pod-watcher',
    isClusterRole: true,
    rules: [
      'pods: get list watch patch',
      'namespaces: get list watch patch',
      'statefulsets.apps: get list watch',
      'nodes: get list watch',
      'events: get create patch',
      'network-attachment-definitions.k8s.cni.cncf.io: get list watch',
      'subnets.kubeovn.io: list watch patch',
      'ippools.kubeovn.io: list watch patch',
      'vips.kubeovn.io: list watch patch',
      'subnets/status.kubeovn.io: patch',
      'ippools/status.kubeovn.io: patch',
      'vips/status.kubeovn.io: patch',
      'ips.kubeovn.io: list watch create patch delete',
    ],
  },
  {
    name: 'ipledger-pod-watcher',
    isClusterRole: false,
    rules: ['leases.coordination.k8s.io: get create update', 'configmaps: get create update'],
  },
  { name: 'ipledger-node-agent', isClusterRole: true },
  { name: 'ipledger-ovn-projector', isClusterRole: true },
  { name: 'ipledger-ovn-projector', isClusterRole: false },
  { name: 'ipledger-allocator', isClusterRole: true },
];

type Reader = Pick<KubernetesClient, 'get' | 'besideKubeOvn'>;

/** @throws CliError when the roles cannot be read */
export const readPermissions = (kubernetes: Reader, namespace: string): Promise<Permission[]> =>
  Promise.all(roles.map((role) => readPermission(kubernetes, namespace, role)));

async function readPermission(kubernetes: Reader, namespace: string, role: Role): Promise<Permission> {
  const { name, isClusterRole, rules } = role;
  const kind = isClusterRole ? 'ClusterRole' : 'Role';
  const folder = isClusterRole ? `${rbac}/cluster` : `${rbac}/namespaces/${namespace}/`;
  const [found, binding] = await Promise.all([
    kubernetes.get(`${folder}roles/${name}`),
    kubernetes.get(`${folder}rolebindings/${name}`),
  ]);
  const missing = [
    ...(found ? rulesMissing(rules ?? [], found, kubernetes.besideKubeOvn) : rules ? [`the ${kind}`] : []),
    ...(found && !isBound(binding, { namespace, name }) ? [`the ${kind}Binding to the ServiceAccount ${name}`] : []),
  ];
  return { role: `${kind} ${name}`, missing };
}

function isBound(binding: UntypedJson | undefined, account: { namespace: string; name: string }): boolean {
  const { name } = asRecord(binding?.['roleRef']);
  const subjects = asRecords(binding?.['subjects']);
  return (
    name === account.name &&
    subjects.some((each) => each['name'] === account.name && each['namespace'] === account.namespace)
  );
}

/** The needed rules that no rule of a role permits, for all objects or for some of them by name. */
function rulesMissing(needed: readonly string[], role: UntypedJson, besideKubeOvn: boolean): string[] {
  const granted = new Set(
    asRecords(role['rules']).flatMap((rule) =>
      asTexts(rule['resources']).flatMap((resource) =>
        groupsOf(rule).flatMap((group) => asTexts(rule['verbs']).map((verb) => `${verb} ${resource}.${group}`)),
      ),
    ),
  );
  return needed.flatMap((rule) => {
    const [target = '', verbs = ''] = (besideKubeOvn ? rule.replace('.kubeovn.io', `.${ownGroup}`) : rule).split(': ');
    const [resource = '', ...group] = target.split('.');
    const variants = [`${resource}.${group.join('.')}`, `*.${group.join('.')}`, '*.*'];
    const lost = verbs
      .split(' ')
      .filter((verb) => !variants.some((each) => granted.has(`${verb} ${each}`) || granted.has(`* ${each}`)));
    return lost.length === 0 ? [] : [`${lost.join(', ')} of ${target}`];
  });
}

/** The group of core objects is ''. */
const groupsOf = ({ apiGroups }: UntypedJson): string[] => (Array.isArray(apiGroups) ? apiGroups.map(asText) : []);
