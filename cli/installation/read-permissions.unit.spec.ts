import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { readPermissions } from './read-permissions.ts';

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
  it('are complete with the roles of deploy/rbac.yaml', async () => {
    expect(await missing((role) => role)).to.deep.equal([]);
  });

  it('name a role that is missing, and one that is not bound', async () => {
    expect(await missing((role) => (role.kind === 'ClusterRole' ? undefined : role))).to.deep.equal([
      'ClusterRole ipledger-pod-watcher: the ClusterRole',
    ]);
    expect(await missing((role) => (role.kind === 'RoleBinding' ? { ...role, subjects: [] } : role))).to.deep.equal([
      'Role ipledger-pod-watcher: the RoleBinding to the ServiceAccount ipledger-pod-watcher',
      'Role ipledger-ovn-projector: the RoleBinding to the ServiceAccount ipledger-ovn-projector',
    ]);
  });

  it('name the verbs that a role lost, and those of the group beside Kube-OVN', async () => {
    const withoutPatch = (role: Manifest): Manifest =>
      JSON.parse(JSON.stringify(role).replaceAll(',"patch"]', ']').replaceAll('["patch"]', '[]')) as Manifest;
    expect(await missing(withoutPatch)).to.include('ClusterRole ipledger-pod-watcher: patch of pods');
    expect(await missing((role) => role, true)).to.include(
      'ClusterRole ipledger-pod-watcher: list, watch, patch of subnets.ipam.ipledger.io',
    );
  });

  it('are complete with a role that permits everything', async () => {
    const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
    expect(await missing((role) => ('rules' in role ? { ...role, rules: [all] } : role))).to.deep.equal([]);
  });
});
