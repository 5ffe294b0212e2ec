/** The rights in Kubernetes that a selftest needs, which it reviews before it makes anything. */
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { namespaceOf, type TestPlan } from './test-objects.ts';

interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly group: string;
  /** "" for objects of the whole cluster. */
  readonly namespace: string;
}

const networks = { resource: 'network-attachment-definitions', group: 'k8s.cni.cncf.io' };

/** Exec is not part of it: without it, the pings are skipped. */
function requiredRights(plan: TestPlan): Right[] {
  const namespace = namespaceOf(plan);
  const each = (verbs: string, resource: string, where = '', group = ''): Right[] =>
    verbs.split(' ').map((verb) => ({ verb, resource, group, namespace: where }));
  const [ofNamespace = ''] = typeof plan.network === 'string' ? plan.network.split('/') : [];
  return [
    ...each('get', 'nodes'),
    ...each('list create delete', 'namespaces'),
    ...each('get', 'serviceaccounts', namespace),
    ...each('get list create delete', 'pods', namespace),
    ...each('list', 'events', namespace),
    { verb: 'get', resource: 'ips', group: plan.group, namespace: '' },
    { verb: 'list', resource: 'subnets', group: plan.group, namespace: '' },
    ...(typeof plan.network === 'string'
      ? [{ ...networks, verb: 'get', namespace: ofNamespace }]
      : [
          { ...networks, verb: 'create', namespace },
          { verb: 'create', resource: 'subnets', group: plan.group, namespace: '' },
          { verb: 'delete', resource: 'subnets', group: plan.group, namespace: '' },
        ]),
  ];
}

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/**
 * The rights that the person does not have, as "create pods in ipledger-selftest-1a2b".
 * @throws CliError when the cluster does not review them
 */
export async function findMissingRights(
  plan: TestPlan,
  kubernetes: Pick<KubernetesClient, 'create'>,
): Promise<string[]> {
  const rights = requiredRights(plan);
  const allowed = await Promise.all(
    rights.map(async (right) => {
      const spec = { resourceAttributes: right };
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec };
      return asRecord((await kubernetes.create(reviews, review))['status'])['allowed'] === true;
    }),
  );
  return rights.filter((_right, index) => allowed[index] === false).map(describeRight);
}

const describeRight = ({ verb, resource, group, namespace }: Right): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}${namespace === '' ? '' : ` in ${namespace}`}`;
