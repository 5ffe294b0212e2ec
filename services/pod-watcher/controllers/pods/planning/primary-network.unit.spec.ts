import { expect } from 'chai';
import { annotationKey, planOf, defaultRequest } from './testing/plan.fixture.ts';

describe('the primary network', () => {
  const primary = {
    ...defaultRequest,
    provider: 'ovn',
    interface: 'eth0',
    subnets: ['pod-network', 'namespace-network'],
  };
  const ovn = (suffix: string) => `ovn.kubernetes.io/${suffix}`;
  const served: [what: string, annotations: Record<string, string>, namespace: string, expected: object[]][] = [
    ['is not served to a Pod that does not request it', {}, 'default', []],
    ['is not served in a namespace that was not observed yet', {}, 'unknown', []],
    ['is not served if the namespace lists only Subnets that do not exist', {}, 'foreign', []],
    [
      'is not served if an address is requested from another plugin',
      { [ovn('ip_address')]: '10.16.0.15' },
      'default',
      [],
    ],
    ['is served from the Subnets of the namespace, in their order', {}, 'served', [primary]],
    [
      'is served from the only Subnet of the namespace, and not from its IPPool of another Subnet',
      {},
      'single',
      [{ ...primary, subnets: ['namespace-network'] }],
    ],
    [
      'is served only from the Subnet that the Pod names',
      { [ovn('logical_switch')]: 'by-name', [ovn('ip_address')]: '10.0.0.9' },
      'served',
      [{ ...primary, subnets: ['by-name'], candidates: [{ addresses: ['10.0.0.9'] }] }],
    ],
    [
      'is served with one of the addresses that ip_pool lists',
      { [ovn('ip_pool')]: '10.0.0.10;10.0.0.11' },
      'served',
      [{ ...primary, candidates: [{ addresses: ['10.0.0.10'] }, { addresses: ['10.0.0.11'] }] }],
    ],
    [
      'is served from the Subnet of the IPPool that the Pod names',
      { [ovn('ip_pool')]: 'primary-pool' },
      'served',
      [{ ...primary, subnets: ['pod-network'], pool: 'primary-pool' }],
    ],
    [
      'is served from the IPPool of the namespace',
      {},
      'drawing',
      [{ ...primary, subnets: ['pod-network'], pool: 'of-namespace' }],
    ],
    [
      'is served from the IPPool of the namespace that belongs to the Subnet which the Pod names',
      { [ovn('logical_switch')]: 'pod-network' },
      'drawing',
      [{ ...primary, subnets: ['pod-network'], pool: 'of-namespace' }],
    ],
    [
      'is served without an IPPool if those of the namespace belong to other Subnets than the Pod names',
      { [ovn('logical_switch')]: 'by-name' },
      'drawing',
      [{ ...primary, subnets: ['by-name'] }],
    ],
    [
      'is served without an IPPool of the Subnet which the Pod names, if that is for other namespaces',
      { [ovn('logical_switch')]: 'pod-network' },
      'served',
      [{ ...primary, subnets: ['pod-network'] }],
    ],
    [
      'is served with a fixed address although the namespace has an IPPool',
      { [ovn('ip_address')]: '10.0.0.9' },
      'drawing',
      [{ ...primary, subnets: ['pod-network'], candidates: [{ addresses: ['10.0.0.9'] }] }],
    ],
    [
      'is replaced by the default network of the Multus annotation',
      { 'v1.multus-cni.io/default-network': 'default/macvlan' },
      'served',
      [{ ...defaultRequest, interface: 'eth0' }],
    ],
  ];
  for (const [what, annotations, namespace, expected] of served)
    it(`the primary network ${what}`, () => {
      const { attachments, problems } = planOf('', annotations, { namespace });
      expect(problems).to.deep.equal([]);
      expect(attachments).to.deep.equal(expected);
    });

  it('the primary network keeps a Pod waiting while a list of its namespace is over its limit, unless the Pod selects only other networks', () => {
    const namespace = 'crowded';
    const text = 'namespace crowded: annotation logical_switch has 257 names';
    for (const [networks, annotations] of [
      ['', {}],
      ['default/macvlan', { [ovn('ip_address')]: '10.0.0.9' }],
    ] as const)
      expect(planOf(networks, annotations, { namespace }).problems).to.deep.equal([{ about: 'cluster', text }]);
    const { attachments, problems } = planOf('default/macvlan', {}, { namespace });
    expect(problems).to.deep.equal([]);
    expect(attachments).to.deep.equal([defaultRequest]);
  });

  it('the primary network is served to a starting Pod, and to a running Pod only if it shows an allocation', () => {
    const running = { namespace: 'served', phase: 'Running' };
    expect(planOf('', {}, running).attachments).to.deep.equal([]);
    expect(planOf('', { [ovn('allocated')]: 'true' }, running).attachments).to.deep.equal([primary]);
    expect(planOf('', { [ovn('allocated')]: 'false' }, running).attachments).to.deep.equal([]);
  });

  describe('for a Pod that holds an attachment already', () => {
    const attachment = { provider: 'macvlan.default', ordinal: 0, interface: 'net1', addresses: [], seq: 7 };
    const served = { namespace: 'served', held: [attachment] };

    it('the primary network is served to a starting Pod with an attachment, whose namespace may have been bound later', () => {
      expect(planOf('default/macvlan', {}, served).attachments).to.deep.equal([primary]);
    });

    it('the primary network is not served to a running Pod with an attachment, also if it shows the attachment', () => {
      const shown = { [annotationKey('allocated')]: 'true' };
      expect(planOf('default/macvlan', shown, { ...served, phase: 'Running' }).attachments).to.deep.equal([]);
    });

    it('the primary network is not requested twice by a Pod that holds an attachment', () => {
      const held = [attachment, { ...attachment, provider: 'ovn', interface: 'eth0' }];
      const { attachments, detached } = planOf('default/macvlan', {}, { ...served, held });
      expect([attachments, detached]).to.deep.equal([[], []]);
    });
  });

  it('the primary network keeps a Pod waiting while a Subnet of its namespace is not in force', () => {
    const { problems, topics } = planOf('macvlan', {}, { namespace: 'waiting' });
    expect(problems[0]).to.deep.equal({
      about: 'cluster',
      text: 'namespace waiting: Subnet coming is not in force yet',
    });
    expect(topics).to.include('subnet:coming');
  });
});
