import { expect } from 'chai';
import { plan, request } from './plan.fixture.ts';

describe('the primary network', () => {
  const primary = { ...request, provider: 'ovn', interface: 'eth0', subnets: ['pod-network', 'namespace-network'] };
  const ovn = (suffix: string) => `ovn.kubernetes.io/${suffix}`;
  const asked: [what: string, annotations: Record<string, string>, namespace: string, expected: object[]][] = [
    ['is not served to who does not ask', {}, 'default', []],
    ['is not served where nobody knows the namespace', {}, 'unknown', []],
    ['is not served from Subnets that are none of ours', {}, 'foreign', []],
    ['leaves alone what is asked of another plugin', { [ovn('ip_address')]: '10.16.0.15' }, 'default', []],
    ['comes from the Subnets of the namespace, in their order', {}, 'served', [primary]],
    [
      'comes from the Subnet that the Pod names, and from no other',
      { [ovn('logical_switch')]: 'by-name', [ovn('ip_address')]: '10.0.0.9' },
      'served',
      [{ ...primary, subnets: ['by-name'], candidates: [{ addresses: ['10.0.0.9'] }] }],
    ],
    [
      'takes one of a list',
      { [ovn('ip_pool')]: '10.0.0.10;10.0.0.11' },
      'served',
      [{ ...primary, candidates: [{ addresses: ['10.0.0.10'] }, { addresses: ['10.0.0.11'] }] }],
    ],
    [
      'comes from the Subnet of the IPPool that the Pod names',
      { [ovn('ip_pool')]: 'primary-pool' },
      'served',
      [{ ...primary, subnets: ['pod-network'], pool: 'primary-pool' }],
    ],
    [
      'comes from the IPPool of the namespace',
      {},
      'drawing',
      [{ ...primary, subnets: ['pod-network'], pool: 'of-namespace' }],
    ],
    [
      'takes a fixed address also beside the IPPool of the namespace',
      { [ovn('ip_address')]: '10.0.0.9' },
      'drawing',
      [{ ...primary, subnets: ['pod-network'], candidates: [{ addresses: ['10.0.0.9'] }] }],
    ],
    [
      'is replaced by the default network that Multus is told',
      { 'v1.multus-cni.io/default-network': 'default/macvlan' },
      'served',
      [{ ...request, interface: 'eth0' }],
    ],
  ];
  for (const [what, annotations, namespace, expected] of asked)
    it(what, () => {
      const { attachments, problems } = plan('', annotations, { namespace });
      expect(problems).to.deep.equal([]);
      expect(attachments).to.deep.equal(expected);
    });

  it('keeps a Pod waiting while a list of its namespace is over its limit, unless it asks for other networks only', () => {
    const namespace = 'crowded';
    const text = 'namespace crowded: annotation logical_switch has 257 names';
    for (const [networks, annotations] of [
      ['', {}],
      ['default/macvlan', { [ovn('ip_address')]: '10.0.0.9' }],
    ] as const)
      expect(plan(networks, annotations, { namespace }).problems).to.deep.equal([{ about: 'world', text }]);
    const { attachments, problems } = plan('default/macvlan', {}, { namespace });
    expect(problems).to.deep.equal([]);
    expect(attachments).to.deep.equal([request]);
  });

  it('is not served to who runs without it, but again to who shows what it was given', () => {
    const running = { namespace: 'served', phase: 'Running' };
    expect(plan('', {}, running).attachments).to.deep.equal([]);
    expect(plan('', { [ovn('allocated')]: 'true' }, running).attachments).to.deep.equal([primary]);
    expect(plan('', { [ovn('allocated')]: 'false' }, running).attachments).to.deep.equal([]);
  });

  it('is waited for where the namespace has a Subnet that is not in force yet', () => {
    const { problems, topics } = plan('macvlan', {}, { namespace: 'waiting' });
    expect(problems[0]).to.deep.equal({ about: 'world', text: 'namespace waiting: Subnet coming is not in force yet' });
    expect(topics).to.include('subnet:coming');
  });
});
