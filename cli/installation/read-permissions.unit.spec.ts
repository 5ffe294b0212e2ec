import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { readPermissions, roles } from './read-permissions.ts';

const file = join(import.meta.dirname, '../../deploy/rbac.yaml');
interface Manifest extends UntypedJson {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}
const manifests = parseAllDocuments(readFileSync(file, 'utf8')).map((each) => each.toJS() as Manifest);

/** The roles of deploy/rbac.yaml, as an API server has them. */
function reading(change: (role: Manifest) => Manifest | undefined, besideKubeOvn = false) {
  return readPermissions(
    {
      besideKubeOvn,
      get: (path) => {
        const [, isCluster, plural, name] = /\/(cluster)?(roles|rolebindings)\/([\w-]+)$/.exec(path) ?? [];
        const kind = `${isCluster ? 'Cluster' : ''}${plural === 'roles' ? 'Role' : 'RoleBinding'}`;
        const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
        return Promise.resolve(found && change(found));
      },
    },
    'kube-system',
  );
}

const missing = async (...args: Parameters<typeof reading>): Promise<string[]> =>
  (await reading(...args)).flatMap((each) => each.missing.map((what) => `${each.role}: ${what}`));

describe('Permissions of an installation', () => {
  it('Permissions of an installation are complete with the roles of deploy/rbac.yaml', async () => {
    expect(await missing((role) => role)).to.deep.equal([]);
  });

  /** Rules of features that many clusters do not use. doctor does not report them. */
  const optional = [
    'get list watch virtualmachines.kubevirt.io',
    'get list watch virtualmachineinstances.kubevirt.io',
    'list watch create patch ipamclaims.k8s.cni.cncf.io',
    'patch ipamclaims/status.k8s.cni.cncf.io',
    'list watch vlans.kubeovn.io',
    'create delete subnets.kubeovn.io',
    'list watch patch networks.k8s.plugin.opnfv.org',
    'patch networks/status.k8s.plugin.opnfv.org',
  ];
  /** Roles that doctor does not look at: one is optional, one is in the namespace of Kube-OVN. */
  const otherRoles = ['ClusterRole ipledger-node-agent-ovn', 'Role ipledger-kube-ovn-lease'];

  it('Permissions of an installation are the roles of deploy/rbac.yaml, and of the pod-watcher each rule that is not optional', () => {
    const found = manifests.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
    const nameOf = ({ name, isClusterRole }: (typeof roles)[number]): string =>
      `${isClusterRole ? 'ClusterRole' : 'Role'} ${name}`;
    expect(found.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).to.deep.equal(
      [...roles.map(nameOf), ...otherRoles].toSorted(),
    );
    const permitted = found
      .filter(({ metadata }) => metadata.name === 'ipledger-pod-watcher')
      .flatMap(({ rules }) => rules as { apiGroups: string[]; resources: string[]; verbs: string[] }[])
      .flatMap(({ apiGroups: [group = ''], resources, verbs }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`)),
      );
    const needed = [
      ...roles.flatMap(({ rules = [] }) => rules).map((rule) => rule.split(': ').toReversed().join(' ')),
      ...optional,
    ].flatMap((rule) => {
      const words = rule.split(' ');
      return words.slice(0, -1).map((verb) => `${verb} ${words.at(-1)}`);
    });
    expect([...new Set(permitted)].toSorted()).to.deep.equal([...new Set(needed)].toSorted());
  });

  it('Permissions of an installation name a role that is missing, and one that is not bound', async () => {
    expect(await missing((role) => (role.kind === 'ClusterRole' ? undefined : role))).to.deep.equal([
      'ClusterRole ipledger-pod-watcher: the ClusterRole',
    ]);
    expect(await missing((role) => (role.kind === 'RoleBinding' ? { ...role, subjects: [] } : role))).to.deep.equal([
      'Role ipledger-pod-watcher: the RoleBinding to the ServiceAccount ipledger-pod-watcher',
      'Role ipledger-ovn-projector: the RoleBinding to the ServiceAccount ipledger-ovn-projector',
    ]);
  });

  it('Permissions of an installation name the verbs that a role lost, and those of the group beside Kube-OVN', async () => {
    const withoutPatch = (role: Manifest): Manifest =>
      JSON.parse(JSON.stringify(role).replaceAll(',"patch"]', ']').replaceAll('["patch"]', '[]')) as Manifest;
    expect(await missing(withoutPatch)).to.include('ClusterRole ipledger-pod-watcher: patch of pods');
    expect(await missing((role) => role, true)).to.include(
      'ClusterRole ipledger-pod-watcher: list, watch, patch of subnets.ipam.ipledger.io',
    );
  });

  it('Permissions of an installation are complete with a role that permits everything', async () => {
    const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
    expect(await missing((role) => ('rules' in role ? { ...role, rules: [all] } : role))).to.deep.equal([]);
  });
});
