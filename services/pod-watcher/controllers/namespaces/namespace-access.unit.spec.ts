import { expect } from 'chai';
import { subnetNamed } from '../../testing/fakes.ts';
import { allowsNamespace, poolAccessRefusal, subnetAccessRefusal } from './namespace-access.ts';
import { SubnetCache } from '../subnets/subnet-cache.ts';
import { annotationKey, clusterView, planOf, defaultRequest } from '../pods/planning/testing/plan.fixture.ts';

const ovn = (suffix: string): string => `ovn.kubernetes.io/${suffix}`;
const attachnet = (suffix: string): string => `attachnet.default.ovn.kubernetes.io/${suffix}`;

type Case = [what: string, networks: string, annotations: Record<string, string>, sentence: string, namespace?: string];

describe('a restriction to namespaces', () => {
  const shop = { name: 'shop', labels: { team: 'a' } };

  it('a restriction to namespaces allows all if it is empty, and else those that it lists or selects', () => {
    const selectors = ['a', 'b'].map((team) => ({ matchLabels: { team }, matchExpressions: [] }));
    const allows = (namespaces: string[], of: typeof selectors = []) =>
      allowsNamespace({ namespaces, selectors: of }, shop);
    expect([allows([]), allows(['shop']), allows(['bank'], selectors)]).to.deep.equal([true, true, true]);
    expect([allows(['bank']), allows([], selectors.slice(1))]).to.deep.equal([false, false]);
  });

  it('a restriction to namespaces is reported with the first five of them, and the number of the others', () => {
    const refusalOf = (count: number): string | undefined => {
      const names = Array.from({ length: count }, (_, index) => `n${index}`);
      const { pools } = clusterView;
      return poolAccessRefusal('web', 'shop', { pools: { ...pools, namespacesOf: () => names } });
    };
    expect(refusalOf(5)).to.contain('for namespaces n0, n1, n2, n3, n4, not for namespace shop');
    expect(refusalOf(6)).to.contain('for namespaces n0, n1, n2, n3, n4 and 1 more, not for namespace shop');
  });
});

describe('a Subnet that serves another provider', () => {
  const refused: Case[] = [
    [
      'is not served to a Kube-OVN-type NIC that names it',
      'attachnet',
      { [attachnet('logical_switch')]: 'vlan' },
      `annotation ${attachnet('logical_switch')}: Subnet vlan serves provider vlan.default: name one of provider ovn or attachnet.default.ovn`,
    ],
    [
      'is not served to a Kube-OVN-type main NIC that names it',
      '',
      { 'v1.multus-cni.io/default-network': 'attachnet', [attachnet('logical_switch')]: 'macvlan' },
      'Subnet macvlan serves provider macvlan.default: name one of provider ovn or attachnet.default.ovn',
    ],
    [
      'is not served to the primary NIC that names it',
      '',
      { [ovn('logical_switch')]: 'macvlan' },
      `annotation ${ovn('logical_switch')}: Subnet macvlan serves provider macvlan.default: name one of provider ovn`,
    ],
    [
      'is not served to the primary NIC that names an IPPool of it',
      '',
      { [ovn('ip_pool')]: 'pool-1' },
      `annotation ${ovn('ip_pool')}: IPPool pool-1 is of Subnet macvlan-2: Subnet macvlan-2 serves provider macvlan.default`,
    ],
  ];
  expectRefused('A Subnet that serves another provider', refused);

  it('a Subnet that serves another provider is skipped in the lists of a namespace', () => {
    expect(planOf('', {}, { namespace: 'listing-pool' })).to.deep.include({ attachments: [], problems: [] });
    const [problem] = planOf('', {}, { namespace: 'listing' }).problems;
    expect(problem?.text).to.contain('Subnet macvlan serves provider macvlan.default: name one of provider ovn');
  });
});

describe('a Subnet with spec.namespaces', () => {
  const sentence =
    'Subnet macvlan-shop is for namespace shop, not for namespace default: name another Subnet, or add default to spec.namespaces of Subnet macvlan-shop';
  const refused: Case[] = [
    [
      'is refused to a Pod of another namespace as the only Subnet of its provider, with an Event',
      'closed',
      {},
      'provider closed.default: Subnet closed is for namespaces shop, web, not for namespace default',
    ],
    [
      'is refused to a Pod of another namespace that requests a fixed address',
      'closed',
      { 'closed.default.kubernetes.io/ip_address': '10.0.0.9' },
      'Subnet closed is for namespaces shop, web',
    ],
    [
      'is refused to a Pod of another namespace that names it',
      'macvlan',
      { [annotationKey('logical_switch')]: 'macvlan-shop' },
      sentence,
    ],
    [
      'is refused to a Kube-OVN-type NIC of a Pod of another namespace',
      'attachnet',
      { [attachnet('logical_switch')]: 'ovn-shop' },
      'Subnet ovn-shop is for namespace shop and what its namespaceSelectors select, not for namespace default',
    ],
    [
      'is refused to the primary NIC of a Pod of another namespace',
      '',
      { [ovn('logical_switch')]: 'ovn-shop' },
      'Subnet ovn-shop is for namespace shop',
    ],
    [
      'is refused to a Pod of another namespace that names an IPPool of it',
      'macvlan',
      { [annotationKey('ip_pool')]: 'pool-in-shop' },
      'IPPool pool-in-shop is of Subnet macvlan-shop, and provider macvlan.default is served from macvlan, macvlan-2',
    ],
    [
      'is refused to a primary NIC that names an IPPool of it',
      '',
      { [ovn('ip_pool')]: 'primary-pool-of-shop' },
      'IPPool primary-pool-of-shop is of Subnet ovn-shop: Subnet ovn-shop is for namespace shop',
    ],
    [
      'is refused to a namespace whose list a user edited',
      '',
      {},
      'namespace listing: Subnet ovn-shop is for namespace shop',
      'listing',
    ],
  ];
  expectRefused('A Subnet with spec.namespaces', refused);

  it('a Subnet with spec.namespaces is refused with the first five of its namespaces, or with its selectors alone', () => {
    const refusalOf = (spec: object): string | undefined =>
      subnetAccessRefusal('lan', 'default', {
        subnets: new SubnetCache(new Map([['lan', subnetNamed('lan', spec)]])),
        namespaceOf: () => undefined,
      });
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    expect(refusalOf({ namespaces: names })).to.match(
      /^Subnet lan is for namespaces a, b, c, d, e and 2 more, not for namespace default: /,
    );
    expect(refusalOf({ namespaceSelectors: [{ matchLabels: { team: 'a' } }] })).to.match(
      /^Subnet lan is for what its namespaceSelectors select, not for namespace default: /,
    );
  });

  it('a Subnet with spec.namespaces is skipped by default, and the other Subnets of the provider serve', () => {
    expect(planOf('macvlan').attachments).to.deep.equal([defaultRequest]);
  });

  it('a Subnet with spec.namespaces serves the Pods of its namespaces, by default and by name', () => {
    const shop = { namespace: 'shop' };
    expect(planOf('default/closed', {}, shop).attachments[1]?.subnets).to.deep.equal(['closed']);
    const named = planOf('default/macvlan', { [annotationKey('logical_switch')]: 'macvlan-shop' }, shop);
    expect(named.attachments[1]?.subnets).to.deep.equal(['macvlan-shop']);
    expect(planOf('', {}, shop).attachments[0]?.subnets).to.deep.equal(['ovn-shop']);
  });

  it('a Subnet with spec.namespaceSelectors serves the Pods of the namespaces that it selects', () => {
    expect(planOf('', {}, { namespace: 'labelled' }).attachments[0]?.subnets).to.deep.equal(['ovn-shop']);
  });

  it('a Subnet with spec.namespaces keeps the allocations of Pods of other namespaces', () => {
    const held = [
      { provider: 'closed.default', ordinal: 0, interface: '', addresses: [], mac: '', seq: 7, subnet: 'closed' },
    ];
    expect(planOf('closed', {}, { held })).to.deep.include({ attachments: [], problems: [], detached: [] });
  });

  it('a Subnet with spec.namespaces is a topic of the plan that it refuses', () => {
    expect(planOf('macvlan', { [annotationKey('logical_switch')]: 'macvlan-shop' }).topics).to.include(
      'subnet:macvlan-shop',
    );
    expect(planOf('closed').topics).to.include('provider:closed.default');
  });
});

describe('an IPPool with spec.namespaces', () => {
  const sentence =
    'IPPool pool-of-shop is for namespace shop, not for namespace default: name another IPPool, or add default to spec.namespaces of IPPool pool-of-shop';
  expectRefused('An IPPool with spec.namespaces', [
    [
      'is refused to a Pod of another namespace that names it',
      'macvlan',
      { [annotationKey('ip_pool')]: 'pool-of-shop' },
      `annotation ${annotationKey('ip_pool')}: ${sentence}`,
    ],
  ]);

  it('an IPPool with spec.namespaces serves the Pods of its namespaces', () => {
    const { attachments } = planOf(
      'default/macvlan',
      { [annotationKey('ip_pool')]: 'pool-of-shop' },
      { namespace: 'shop' },
    );
    expect(attachments[1]).to.include({ pool: 'pool-of-shop' });
  });
});

describe('a Vip with spec.namespace', () => {
  expectRefused('A Vip with spec.namespace', [
    [
      'is refused to a Pod of another namespace',
      'macvlan',
      { [ovn('vip')]: 'vip-of-shop' },
      `annotation ${ovn('vip')}: Vip vip-of-shop is for namespace shop, not for namespace default: name another Vip, or correct spec.namespace of Vip vip-of-shop`,
    ],
  ]);

  it('a Vip with spec.namespace serves the Pods of its namespace', () => {
    const { attachments } = planOf('default/macvlan', { [ovn('vip')]: 'vip-of-shop' }, { namespace: 'shop' });
    expect(attachments[1]).to.include({ reservation: 'vip/vip-of-shop' });
  });
});

function expectRefused(subject: string, cases: readonly Case[]): void {
  for (const [what, networks, annotations, sentence, namespace = 'default'] of cases)
    it(`${subject} ${what}`, () => {
      const { attachments, problems } = planOf(networks, annotations, { namespace });
      expect(attachments).to.deep.equal([]);
      expect(problems[0]).to.include({ about: 'cluster' });
      expect(problems[0]?.text).to.contain(sentence);
    });
}
