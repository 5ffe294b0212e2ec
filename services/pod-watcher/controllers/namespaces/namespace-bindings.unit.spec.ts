import { expect } from 'chai';
import fc from 'fast-check';
import { type NamespaceObject, namespaces } from '../../kubernetes/objects/namespace.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import { subnetNamed } from '../../testing/fakes.ts';
import { allowsNamespace } from './namespace-access.ts';
import { NamespaceBindings } from './namespace-bindings.ts';

const anyLabel = fc.constantFrom('team', 'tier');
const anyValue = fc.constantFrom('a', 'b', '');
const anyLabels = fc.dictionary(anyLabel, anyValue, { maxKeys: 2 });
const anyRequirement = fc.record({
  key: anyLabel,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Unknown'),
  values: fc.array(anyValue, { maxLength: 2 }),
});
const anySelector = fc.record({ matchLabels: anyLabels, matchExpressions: fc.array(anyRequirement, { maxLength: 2 }) });
const anyNamespaceName = fc.constantFrom('shop', 'bank', 'lab');
const anyStep = fc.oneof(
  fc.record({
    kind: fc.constant('subnet' as const),
    name: fc.constantFrom('blue', 'red'),
    isDeleted: fc.boolean(),
    spec: fc.record({
      provider: fc.constantFrom('ovn', '', 'lan.default'),
      namespaces: fc.array(anyNamespaceName, { maxLength: 2 }),
      namespaceSelectors: fc.array(anySelector, { maxLength: 2 }),
    }),
  }),
  fc.record({
    kind: fc.constant('namespace' as const),
    name: anyNamespaceName,
    isDeleted: fc.boolean(),
    labels: anyLabels,
  }),
);

const namespace = (labels: Record<string, string> = {}) =>
  namespaces.parse({ metadata: { name: 'shop', uid: 'u', labels } });

function isListedBy(subnet: SubnetObject, object: NamespaceObject): boolean {
  const bindings = new NamespaceBindings();
  bindings.putNamespace(object);
  bindings.putSubnet(subnet);
  return [...bindings.subnetsOf(object.name)].includes(subnet.name);
}

describe('A namespace lists', () => {
  const primarySubnet = (spec: object, metadata: object = {}) =>
    subnetNamed('blue', { provider: 'ovn', ...spec }, metadata);

  it('a namespace lists the Subnets that name it or select its labels', () => {
    expect(isListedBy(primarySubnet({ namespaces: ['other', 'shop'] }), namespace())).to.equal(true);
    const selecting = primarySubnet({ namespaceSelectors: [{ matchLabels: { team: 'blue' } }] });
    expect(isListedBy(selecting, namespace({ team: 'blue' }))).to.equal(true);
    expect(isListedBy(selecting, namespace({ team: 'red' }))).to.equal(false);
    expect(isListedBy(primarySubnet({}), namespace())).to.equal(false);
  });

  it('a namespace lists no Subnet that is being deleted or of another network', () => {
    const deleting = { deletionTimestamp: '2026-01-31T08:00:00Z' };
    expect(isListedBy(primarySubnet({ namespaces: ['shop'] }, deleting), namespace())).to.equal(false);
    expect(isListedBy(primarySubnet({ namespaces: ['shop'], provider: 'net.default' }), namespace())).to.equal(false);
  });
});

describe('NamespaceBindings', () => {
  it('a Subnet is not compared with a namespace that had a label of its selector before', () => {
    const bindings = new NamespaceBindings();
    let reads = 0;
    const labelsOfTeamB: Record<string, string> = { team: 'b' };
    const watched = new Proxy(labelsOfTeamB, {
      get: (labels, key: string) => ((reads += 1), labels[key]),
    });
    bindings.putNamespace(namespace({ team: 'a' }));
    bindings.putNamespace({ ...namespace(), labels: watched });
    reads = 0;
    bindings.putSubnet(subnetNamed('blue', { provider: 'ovn', namespaceSelectors: [{ matchLabels: { team: 'a' } }] }));
    expect(reads).to.equal(0);
  });

  it('NamespaceBindings has the Subnets that each namespace may use, after any changes, and reports the affected namespaces', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 20, size: 'max' }), (steps) => {
        const bindings = new NamespaceBindings();
        const subnets = new Map<string, ReturnType<typeof subnetNamed>>();
        const present = new Map<string, ReturnType<typeof namespaces.parse>>();
        const isListed = (subnet: string, namespace: string): boolean => {
          const [object, of] = [subnets.get(subnet), present.get(namespace)];
          if (!object || !of || object.spec.provider === 'lan.default') return false;
          const { namespaces: names, selectors } = object.namespaceRestriction;
          return names.length + selectors.length > 0 && allowsNamespace(object.namespaceRestriction, of);
        };
        for (const step of steps) {
          if (step.kind === 'namespace') {
            const object = namespaces.parse({ metadata: { name: step.name, uid: 'u', labels: step.labels } });
            if (step.isDeleted) {
              present.delete(step.name);
              bindings.dropNamespace(step.name);
            } else {
              present.set(step.name, object);
              bindings.putNamespace(object);
            }
          } else {
            const before = [...present.keys()].filter((name) => isListed(step.name, name));
            const object = subnetNamed(step.name, step.spec);
            if (step.isDeleted) subnets.delete(step.name);
            else subnets.set(step.name, object);
            const affected = step.isDeleted ? bindings.dropSubnet(step.name) : bindings.putSubnet(object);
            const after = [...present.keys()].filter((name) => isListed(step.name, name));
            expect([...affected]).to.have.members([...new Set([...before, ...after])]);
          }
          for (const namespace of ['shop', 'bank', 'lab'])
            for (const subnet of ['blue', 'red']) {
              const listed = isListed(subnet, namespace);
              expect([...bindings.subnetsOf(namespace)].includes(subnet)).to.equal(listed);
              expect([...bindings.namespacesOf(subnet)].includes(namespace)).to.equal(listed);
            }
        }
      }),
    );
  });
});
