import { expect } from 'chai';
import { annotationKey, defaultRequest, planOf } from './testing/plan.fixture.ts';
import { networkServedElsewhere, networkWithoutConfig } from './unserved-requests.ts';

describe('a resolved attachment', () => {
  const resolved: [what: string, networks: string, annotations: Record<string, string>, expected: object[]][] = [
    [
      'has the Subnet that logical_switch names',
      'macvlan',
      { [annotationKey('logical_switch')]: 'by-name' },
      [{ ...defaultRequest, subnets: ['by-name'] }],
    ],
    [
      'ignores the annotations of the primary network',
      'macvlan',
      { 'ovn.kubernetes.io/ip_address': 'nonsense' },
      [defaultRequest],
    ],
    [
      'may have a Subnet of the primary provider as Kube-OVN-type main NIC',
      '',
      {
        'v1.multus-cni.io/default-network': 'attachnet',
        'attachnet.default.ovn.kubernetes.io/logical_switch': 'by-name',
      },
      [{ ...defaultRequest, provider: 'attachnet.default.ovn', subnets: ['by-name'], interface: 'eth0' }],
    ],
    [
      'has a Subnet of its own provider as main NIC of another plugin',
      '',
      { 'v1.multus-cni.io/default-network': 'macvlan', [annotationKey('logical_switch')]: 'macvlan-2' },
      [{ ...defaultRequest, subnets: ['macvlan-2'], interface: 'eth0' }],
    ],
  ];
  for (const [what, networks, annotations, expected] of resolved)
    it(`a resolved attachment ${what}`, () => {
      const { attachments, problems } = planOf(networks, annotations);
      expect(problems).to.deep.equal([]);
      expect(attachments).to.deep.equal(expected);
    });

  it('a resolved Pod has no attachments to networks that other plugins serve, and reports why', () => {
    const { attachments, unserved, problems } = planOf('local,macvlan,empty');
    expect(attachments).to.deep.equal([defaultRequest]);
    expect(problems).to.deep.equal([]);
    expect(unserved).to.deep.equal([
      networkServedElsewhere('default/local', 'its addresses come from host-local, not from kube-ovn'),
      networkWithoutConfig('default/empty'),
    ]);
  });

  it('a resolved Pod has no attachment if it selects no network', () => {
    expect(planOf('')).to.deep.include({ attachments: [], problems: [], unserved: [] });
  });

  it('a resolved attachment has the topics of the objects that may alter it', () => {
    expect([...planOf('macvlan,missing').topics]).to.have.members([
      'network:default/macvlan',
      'provider:macvlan.default',
      'subnet:macvlan',
      'subnet:macvlan-2',
      'network:default/missing',
    ]);
    expect(planOf('macvlan', { [annotationKey('logical_switch')]: 'nowhere' }).topics).to.include('subnet:nowhere');
  });
});

describe('a missing or broken object', () => {
  const cases: [networks: string, annotations: Record<string, string>, sentence: string][] = [
    ['missing', {}, 'there is no NetworkAttachmentDefinition default/missing: create it'],
    ['broken', {}, 'NetworkAttachmentDefinition default/broken: its spec.config is not valid JSON'],
    [
      'unbound',
      {},
      'provider unbound.default.ovn is not bound to any subnet: create a Subnet with spec.provider "unbound.default.ovn", or correct spec.provider of the Subnet that is meant for it (kubectl get subnets)',
    ],
    ['nameless', {}, 'its configuration has no provider, but must have "nameless.default.ovn": correct it'],
    ['wrong', {}, 'default/wrong: its configuration has provider "macvlan.default", but must have "wrong.default"'],
    [
      'macvlan',
      { [annotationKey('logical_switch')]: 'nowhere' },
      `annotation ${annotationKey('logical_switch')}: there is no Subnet nowhere`,
    ],
    [
      'macvlan',
      { [annotationKey('logical_switch')]: 'vlan' },
      `annotation ${annotationKey('logical_switch')}: Subnet vlan serves provider vlan.default: name one of provider ovn or macvlan.default`,
    ],
    [
      '',
      { 'v1.multus-cni.io/default-network': 'macvlan', [annotationKey('logical_switch')]: 'by-name' },
      'a main NIC of another plugin cannot have its address from Subnet by-name of provider ovn: name a Subnet with spec.provider "macvlan.default"',
    ],
    [
      'macvlan',
      { [annotationKey('ip_pool')]: 'nowhere' },
      `annotation ${annotationKey('ip_pool')}: there is no IPPool nowhere`,
    ],
    [
      'macvlan',
      { [annotationKey('ip_pool')]: 'vlan-pool' },
      'IPPool vlan-pool is of Subnet vlan, and provider macvlan.default is served from macvlan, macvlan-2: name an IPPool of one of those',
    ],
    [
      'macvlan',
      { 'ovn.kubernetes.io/logical_switch': 'nowhere' },
      'annotation ovn.kubernetes.io/logical_switch: there is no Subnet nowhere: create or correct it',
    ],
    [
      'macvlan',
      { 'ovn.kubernetes.io/ip_pool': 'nowhere' },
      'annotation ovn.kubernetes.io/ip_pool: there is no IPPool nowhere: create or correct it',
    ],
  ];
  for (const [networks, annotations, sentence] of cases)
    it(`a missing or broken object is reported for networks ${networks} with ${JSON.stringify(annotations)}`, () => {
      const { attachments, problems } = planOf(networks, annotations);
      expect(attachments).to.deep.equal([]);
      expect(problems).to.have.length(1);
      expect(problems[0]).to.include({ about: 'cluster' });
      expect(problems[0]?.text).to.contain(sentence);
    });
});
