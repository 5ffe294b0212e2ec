import { expect } from 'chai';
import { ips } from './ip.ts';
import { toSubnet } from './subnet.ts';
import { namespaces } from './namespace.ts';
import { networkDefinitions } from './network-definition.ts';
import { toPod } from './pod.ts';
import { toStatefulSet } from './stateful-set.ts';

const metadata = { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '5' };

describe('Parsing an object', () => {
  it('Parsing a Pod reads only the used fields and the annotations about attachments', () => {
    const pod = toPod({
      metadata: {
        ...metadata,
        deletionTimestamp: '2026-11-17T14:05:00Z',
        managedFields: [{ big: 'thing' }],
        annotations: {
          'k8s.v1.cni.cncf.io/networks': 'macvlan',
          'macvlan.default.kubernetes.io/ip_address': '10.0.0.1',
          'macvlan.default.kubernetes.io/ip_address.net1': '10.0.0.2',
          'ovn.kubernetes.io/vip': 'web',
          'ovn.kubernetes.io/ingress_rate': '3',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          'example.org/ip_address': 'no',
        },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'o', controller: true }],
      },
      spec: { nodeName: 'node-1', restartPolicy: 'Always', terminationGracePeriodSeconds: 5, containers: [{}] },
      status: { phase: 'Running', reason: 'Because' },
    });
    expect(pod).to.deep.equal({
      ...metadata,
      ledgerName: 'p',
      ledgerUid: 'u',
      assertedMachine: undefined,
      launcherRefusal: '',
      node: 'node-1',
      hostNetwork: false,
      showsWaitReason: false,
      restartPolicy: 'Always',
      phase: 'Running',
      reason: 'Because',
      createdAt: '',
      deletionTimestamp: '2026-11-17T14:05:00Z',
      graceSeconds: 5,
      controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'o' },
      annotations: {
        'k8s.v1.cni.cncf.io/networks': 'macvlan',
        'macvlan.default.kubernetes.io/ip_address': '10.0.0.1',
        'macvlan.default.kubernetes.io/ip_address.net1': '10.0.0.2',
        'ovn.kubernetes.io/vip': 'web',
        'ovn.kubernetes.io/ingress_rate': '3',
      },
      problems: [],
    });
  });

  it('Parsing a Namespace reads the Subnets and IPPools of its primary network', () => {
    const annotations = {
      'ovn.kubernetes.io/logical_switch': 'one, two,',
      'ovn.kubernetes.io/ip_pool': 'pool',
      'ovn.kubernetes.io/cidr': '10.0.0.0/24',
    };
    expect(namespaces.parse({ metadata: { ...metadata, annotations } })).to.deep.include({
      ...metadata,
      subnets: ['one', 'two'],
      pools: ['pool'],
    });
    expect(namespaces.parse({ metadata })).to.deep.include({ subnets: [], pools: [] });
  });

  it('Parsing a StatefulSet reads its members, by default a member with ordinal 0', () => {
    const metadata = { name: 'web', namespace: 'default', uid: 'u' };
    expect(toStatefulSet({ metadata })).to.include({ deleting: false, replicas: 1, firstOrdinal: 0 });
    const spec = { replicas: 0, ordinals: { start: 5 } };
    const deleting = { ...metadata, deletionTimestamp: '2026-01-31T08:00:00Z' };
    expect(toStatefulSet({ metadata: deleting, spec })).to.include({ deleting: true, replicas: 0, firstOrdinal: 5 });
  });

  it('Parsing a Pod identifies a static Pod only by the manifest hash of its mirror', () => {
    const identity = (annotations: object) => toPod({ metadata: { ...metadata, annotations } }).ledgerUid;
    const hash = 'd41d8cd98f00b204e9800998ecf8427e';
    expect(identity({ 'kubernetes.io/config.hash': hash, 'kubernetes.io/config.mirror': hash })).to.equal(hash);
    expect(identity({ 'kubernetes.io/config.hash': hash })).to.equal('u');
  });

  it('Parsing an object reads a field of another type as absent', () => {
    const pod = toPod({
      metadata: { ...metadata, annotations: [], ownerReferences: 'x' },
      spec: { nodeName: 7 },
      status: null,
    });
    expect(pod).to.include({ node: '', phase: '', graceSeconds: 30, controller: undefined });
    expect(networkDefinitions.parse({ metadata, spec: { config: {} } }).config).to.equal('');
    expect(ips.parse({ metadata, spec: 'x' })).to.deep.include({ allocation: '', content: { labels: {}, spec: {} } });
  });

  it('Parsing an object without name or uid fails', () => {
    for (const raw of [undefined, {}, { metadata: { name: 'p' } }, 'text'])
      expect(() => toPod(raw)).to.throw('an object without name or uid');
  });

  it('Parsing a Subnet reads the numbers of its spec, and reports each number out of its range', () => {
    const numbers = { cooldownSeconds: 300, bindingTimeoutSeconds: 7_200, maxAddressesPerNamespace: 5 };
    const { spec, problems } = toSubnet({ metadata, spec: numbers });
    expect(spec).to.include({ cooldownMs: 300_000, bindingTimeoutMs: 7_200_000, maxAddressesPerNamespace: 5 });
    expect(problems).to.deep.equal([]);
    const wrong = { cooldownSeconds: '5m', bindingTimeoutSeconds: 59, maxAddressesPerNamespace: 0.5 };
    const refused = toSubnet({ metadata, spec: wrong });
    expect(refused.problems).to.deep.equal([
      'spec.cooldownSeconds must be a whole number from 0 to 2592000, and is "5m"',
      'spec.bindingTimeoutSeconds must be a whole number from 60 to 2592000, and is 59',
      'spec.maxAddressesPerNamespace must be a whole number from 1 to 2147483647, and is 0.5',
    ]);
    expect(refused.spec).to.not.have.any.keys('cooldownMs', 'bindingTimeoutMs', 'maxAddressesPerNamespace');
  });

  it('Parsing a Subnet reads whether it probes its addresses, and reports a value that is no boolean', () => {
    for (const probeAddresses of [true, false]) {
      const { spec, problems } = toSubnet({ metadata, spec: { probeAddresses } });
      expect({ spec: spec.probeAddresses, problems }).to.deep.equal({ spec: probeAddresses, problems: [] });
    }
    const { spec, problems } = toSubnet({ metadata, spec: { probeAddresses: 'yes' } });
    expect(spec).to.not.have.property('probeAddresses');
    expect(problems).to.deep.equal(['spec.probeAddresses must be true or false, and is "yes"']);
  });

  it('Parsing a Subnet reads an unreadable namespace restriction as no namespace', () => {
    const selector = { matchLabels: { team: 'a' } };
    for (const [spec, problem] of [
      [{ namespaces: 'shop' }, 'spec.namespaces must be a list of texts, and is "shop"'],
      [{ namespaces: ['shop', 7] }, 'spec.namespaces must be a list of texts, and is ["shop",7]'],
      [{ namespaceSelectors: selector }, 'spec.namespaceSelectors must be a list of label selectors'],
      [{ namespaceSelectors: [{ matchlabels: { team: 'a' } }] }, 'spec.namespaceSelectors must be a list of label'],
      [{ namespaceSelectors: [{ matchLabels: { team: 7 } }] }, 'spec.namespaceSelectors must be a list of label'],
    ] as const) {
      const { namespaceRestriction, problems } = toSubnet({ metadata, spec });
      expect(namespaceRestriction).to.deep.equal({ namespaces: ['(unreadable)'], selectors: [] });
      expect(problems.join()).to.contain(problem);
    }
    expect(toSubnet({ metadata, spec: { namespaceSelectors: [selector] } })).to.deep.include({
      problems: [],
      namespaceRestriction: { namespaces: [], selectors: [{ ...selector, matchExpressions: [] }] },
    });
  });

  it('Parsing a Subnet reports unreadable fields of its spec', () => {
    const subnet = toSubnet({
      metadata: { ...metadata, generation: 3 },
      spec: { cidrBlock: 7, excludeIps: ['a', 1], provider: 'p' },
    });
    expect(subnet).to.deep.include({ generation: 3, deleting: false });
    expect(subnet.problems).to.deep.equal([
      'spec.cidrBlock must be a text, and is 7',
      'spec.excludeIps must be a list of texts, and is ["a",1]',
    ]);
    expect(toSubnet({ metadata, spec: { cidrBlock: '10.0.0.0/24' } })).to.deep.include({
      problems: [],
      spec: { cidrBlock: '10.0.0.0/24', gateway: '', excludeIps: [], provider: '', protocol: '' },
    });
  });
});
