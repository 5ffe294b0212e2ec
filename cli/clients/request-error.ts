/** Explains why the Kubernetes API refused a request, and names the role that permits it. */
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import { quote } from '../shell-command.ts';

interface GrantedVerb {
  readonly role: { readonly kind: 'Role' | 'ClusterRole'; readonly name: string };
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  /** The objects that the role names, if it does. */
  readonly object?: RegExp;
}

const reader = { kind: 'ClusterRole', name: 'ipledger-reader' } as const;
const recoverer = { kind: 'ClusterRole', name: 'ipledger-recoverer' } as const;
const doctor = { kind: 'Role', name: 'ipledger-doctor' } as const;
const connect = { kind: 'Role', name: 'ipledger-connect' } as const;
const auditor = { kind: 'Role', name: 'ipledger-auditor' } as const;

/** @param resources "resource.group", separated by spaces; core objects have no group */
const grant = (role: GrantedVerb['role'], verbs: string, resources: string, object?: RegExp): GrantedVerb[] =>
  resources.split(' ').flatMap((each) => {
    const [resource = '', ...group] = each.split('.');
    return verbs
      .split(' ')
      .map((verb) => ({ role, verb, resource, group: group.join('.'), ...(object && { object }) }));
  });

/**
 * The roles of the chart, with what the command line needs. The first one that permits a request
 * counts: each person with one of the Roles needs the ClusterRole of a reader, too.
 */
export const grantedBy: readonly GrantedVerb[] = [
  ...grant(reader, 'get list', 'pods nodes subnets.kubeovn.io ippools.kubeovn.io ips.kubeovn.io vips.kubeovn.io'),
  ...grant(reader, 'get list', 'virtualmachines.kubevirt.io virtualmachineinstances.kubevirt.io'),
  ...grant(reader, 'list', 'events statefulsets.apps daemonsets.apps network-attachment-definitions.k8s.cni.cncf.io'),
  ...grant(reader, 'get', 'customresourcedefinitions.apiextensions.k8s.io'),
  ...grant(reader, 'get', 'clusterroles.rbac.authorization.k8s.io clusterrolebindings.rbac.authorization.k8s.io'),
  ...grant(recoverer, 'patch', 'subnets.kubeovn.io ippools.kubeovn.io ips.kubeovn.io vips.kubeovn.io'),
  ...grant(recoverer, 'delete', 'ips.kubeovn.io'),
  ...grant(recoverer, 'list', 'ippools.whereabouts.cni.cncf.io'),
  ...grant(recoverer, 'list', 'overlappingrangeipreservations.whereabouts.cni.cncf.io'),
  ...grant(recoverer, 'get', 'leases.coordination.k8s.io', /^kube-ovn-controller$/),
  ...grant(recoverer, 'patch', 'leases.coordination.k8s.io'),
  ...grant(doctor, 'get', 'pods/log configmaps cronjobs.batch leases.coordination.k8s.io'),
  ...grant(doctor, 'get', 'roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io'),
  ...grant(doctor, 'list', 'persistentvolumeclaims deployments.apps'),
  ...grant(auditor, 'get', 'services secrets', /etcd/),
  ...grant(connect, 'get', 'services secrets'),
];

/** The message of the RBAC authorizer. Admission answers 403, too, in other words. */
const denied =
  /^(?:403 )?(?:\S+ (?:"(?<object>[^"]+)" )?is forbidden: )?User "(?<user>[^"]*)" cannot (?<verb>\w+) resource "(?<resource>[^"]+)" in API group "(?<group>[^"]*)" (?:in the namespace "(?<namespace>[^"]+)"|at the cluster scope)/;

/** What an operator does about a failed request. */
export function explainRequestError(error: unknown): string {
  const { status, reason } = error instanceof ApiError ? error : { status: 0, reason: '' };
  if (status === 401)
    return 'the token or the certificate of the kubeconfig is not valid, or has expired: log in to the cluster again, or use another --context';
  if (status === 403) return explainDenial(reason);
  if (status === 0) return 'KUBECONFIG must name a reachable API server';
  return status === 429 || status >= 500
    ? 'the API server answers, and cannot serve it now: try again'
    : 'the API server answers, and rejects it';
}

function explainDenial(reason: string): string {
  const { user, verb, resource, group = '', namespace, object = '' } = denied.exec(reason)?.groups ?? {};
  if (user === undefined || verb === undefined || resource === undefined)
    return 'the cluster refuses it by a policy, an admission webhook or a quota';
  const where = namespace === undefined ? 'in the cluster' : `in namespace ${namespace}`;
  const what = `User ${user} may not ${verb} ${resource}${group === '' ? '' : `.${group}`} ${where}.`;
  const role = grantedBy.find(
    (each) =>
      each.verb === verb &&
      each.resource === resource &&
      each.group === group.replace(/^ipam\.ipledger\.io$/, 'kubeovn.io') &&
      (each.object?.test(object) ?? true) &&
      (each.role.kind === 'ClusterRole' || namespace !== undefined),
  )?.role;
  return role
    ? `${what} The ${role.kind} ${role.name} permits it: ${bindingCommand(role, user, namespace)}`
    : `${what} No role of ipledger permits it: an administrator of the cluster has to`;
}

/** The command with which an administrator gives a user a role. */
function bindingCommand({ kind, name }: GrantedVerb['role'], user: string, namespace: string | undefined): string {
  const account = /^system:serviceaccount:([^:]+:[^:]+)$/.exec(user)?.[1];
  const label = (user.split(':').at(-1)?.split('@')[0] ?? '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const words = [
    'kubectl',
    'create',
    `${kind.toLowerCase()}binding`,
    `${label}-${name}`,
    `--${kind.toLowerCase()}=${name}`,
    account === undefined ? `--user=${user}` : `--serviceaccount=${account}`,
    ...(kind === 'Role' ? ['-n', namespace ?? ''] : []),
  ];
  return words.map(quote).join(' ');
}
