import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { kubernetesPermissions } from './kubernetes-permissions.ts';
import { permissions } from './permissions.ts';

describe('The Kubernetes permissions', () => {
  it('The Kubernetes permissions have a row for each RPC of the permission table', () => {
    expect([...kubernetesPermissions.keys()]).to.have.members([...permissions.keys()]);
  });

  it('The Kubernetes permissions exclude the RPCs that operators may not call, and no others', () => {
    const never = [...kubernetesPermissions].flatMap(([path, permission]) => (permission ? [] : [path]));
    const ofNodes = ['Wait', 'Attach', 'Bind', 'ReportConflict'].map((name) => `/ipledger.v1.Ipam/${name}`);
    expect(never).to.have.members(ofNodes);
    for (const [path, row] of permissions) expect(row.operator === undefined, path).to.equal(never.includes(path));
  });

  it('The Kubernetes permissions use a reading verb for exactly the RPCs that a viewer may call', () => {
    for (const [path, permission] of kubernetesPermissions) {
      const reads = ['get', 'list', 'watch'].includes(permission?.verb ?? '');
      expect(reads, path).to.equal(permissions.get(path)?.viewer !== undefined);
    }
  });

  it('The Kubernetes permissions equal the table in docs/security.md', () => {
    const document = readFileSync(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');
    const section = /<!-- kubernetes-permissions -->([^]*)<!-- \/kubernetes-permissions -->/.exec(document)?.[1] ?? '';
    const rows = section.split('\n').flatMap((line) => {
      const [resource = '', verb = '', names = ''] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      return resource.startsWith('`') ? [[resource, verb, names.split(' ').toSorted().join(' ')].join(' ')] : [];
    });
    const expected = new Map<string, string[]>();
    for (const [path, permission] of kubernetesPermissions) {
      if (!permission || path.startsWith('/grpc.')) continue;
      const key = `\`${permission.resource}\` \`${permission.verb}\``;
      expected.set(key, [...(expected.get(key) ?? []), `\`${path.split('/').at(-1)}\``]);
    }
    expect(rows).to.have.members([...expected].map(([key, names]) => `${key} ${names.toSorted().join(' ')}`));
  });

  it('The Kubernetes permissions are in the roles of the chart for people', () => {
    const template = readFileSync(
      join(import.meta.dirname, '../../../deploy/chart/templates/people-rbac.yaml'),
      'utf8',
    );
    const rules = template.matchAll(/apiGroups: \[ipledger\.io\]\n +resources: \[(.*)\]\n +verbs: \[([^\]]*)\]/g);
    const granted = [...rules].flatMap(([, resources = '', verbs = '']) =>
      resources.split(', ').flatMap((resource) => verbs.split(', ').map((verb) => `${resource}/${verb}`)),
    );
    const needed = [...kubernetesPermissions].flatMap(([path, permission]) =>
      permission && !path.startsWith('/grpc.') ? [`${permission.resource}/${permission.verb}`] : [],
    );
    // People delete Subnets and IPPools as Kubernetes objects.
    const withoutRole = ['subnets/delete', 'ippools/delete'];
    expect(needed.filter((each) => !granted.includes(each))).to.have.members(withoutRole);
  });
});
