import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import { explainRequestError, grantedBy } from './request-error.ts';

const forbid = (text: string): ApiError => new ApiError(403, `403 ${text}`);
const noDeployments =
  'deployments.apps is forbidden: User "anna" cannot list resource "deployments" in API group "apps" in the namespace "ipledger-system"';

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
}
const chart = join(import.meta.dirname, '../../deploy/ha/ipledger.yaml');
const roles = parseAllDocuments(readFileSync(chart, 'utf8')).map((each) => each.toJS() as Role);

describe('A request that the Kubernetes API refuses', () => {
  it('A request that the Kubernetes API refuses names the verb, the resource, the namespace, and the command that binds the role with it', () => {
    expect(explainRequestError(forbid(noDeployments))).to.equal(
      'User anna may not list deployments.apps in namespace ipledger-system. The Role ipledger-doctor permits it: ' +
        'kubectl create rolebinding anna-ipledger-doctor --role=ipledger-doctor --user=anna -n ipledger-system',
    );
    const everywhere =
      'subnets.kubeovn.io is forbidden: User "system:serviceaccount:people:dora" cannot list resource "subnets" in API group "kubeovn.io" at the cluster scope: RBAC: role not found';
    expect(explainRequestError(forbid(everywhere))).to.equal(
      'User system:serviceaccount:people:dora may not list subnets.kubeovn.io in the cluster. The ClusterRole ipledger-reader permits it: ' +
        'kubectl create clusterrolebinding dora-ipledger-reader --clusterrole=ipledger-reader --serviceaccount=people:dora',
    );
  });

  it('A request that the Kubernetes API refuses names what no role of ipledger permits', () => {
    const token =
      'serviceaccounts "x" is forbidden: User "a b" cannot create resource "serviceaccounts/token" in API group "" in the namespace "ipledger-system"';
    expect(explainRequestError(forbid(token))).to.equal(
      'User a b may not create serviceaccounts/token in namespace ipledger-system. No role of ipledger permits it: an administrator of the cluster has to',
    );
  });

  it('A request that the Kubernetes API refuses is no matter of permissions when an admission plugin refuses it', () => {
    const quota = 'pods "on-1" is forbidden: violates PodSecurity "restricted:latest": privileged';
    expect(explainRequestError(forbid(quota))).to.equal(
      'the cluster refuses it by a policy, an admission webhook or a quota',
    );
  });

  it('A request that the Kubernetes API refuses names the login when the identity is not accepted', () => {
    expect(explainRequestError(new ApiError(401, '401 Unauthorized'))).to.equal(
      'the token or the certificate of the kubeconfig is not valid, or has expired: log in to the cluster again, or use another --context',
    );
  });

  it('A request that the Kubernetes API refuses is otherwise about the address of the API server', () => {
    for (const error of [new ApiError(0, 'connect ECONNREFUSED'), new Error('x')])
      expect(explainRequestError(error)).to.equal('KUBECONFIG must name a reachable API server');
    expect(explainRequestError(new ApiError(503, '503 starting'))).to.equal(
      'the API server answers, and cannot serve it now: try again',
    );
  });

  it('A request that the Kubernetes API refuses names only roles of the chart that have the verb', () => {
    for (const { role, verb, resource, group } of grantedBy) {
      const found = roles.find(({ kind, metadata }) => kind === role.kind && metadata.name === role.name);
      const rule = found?.rules?.find(
        (each) => each.apiGroups.includes(group) && each.resources.includes(resource) && each.verbs.includes(verb),
      );
      expect(rule, `${role.kind} ${role.name}: ${verb} ${resource}`).to.not.equal(undefined);
    }
  });
});
