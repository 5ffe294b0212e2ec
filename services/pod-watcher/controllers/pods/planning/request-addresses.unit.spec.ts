import { expect } from 'chai';
import { annotationKey, defaultRequest, planOf, requestOfAddresses } from './testing/plan.fixture.ts';

describe('the requests of a Pod', () => {
  const requested: [what: string, networks: string, annotations: Record<string, string>, expected: object[]][] = [
    [
      'are for any address of the IPPool that ip_pool names, from its Subnet',
      'macvlan',
      { [annotationKey('ip_pool')]: ' pool-1 ' },
      [{ ...defaultRequest, subnets: ['macvlan-2'], pool: 'pool-1' }],
    ],
    [
      'are for the address of ip_address if ip_pool names an IPPool',
      'macvlan',
      { [annotationKey('ip_pool')]: 'pool-1', [annotationKey('ip_address')]: '10.0.0.3' },
      [requestOfAddresses(['10.0.0.3'])],
    ],
    [
      'are for the addresses of the Vip, for the first NIC on its Subnet',
      'vlan,macvlan',
      { 'ovn.kubernetes.io/vip': 'web' },
      [
        { ...defaultRequest, provider: 'vlan.default', subnets: ['vlan'] },
        { ...requestOfAddresses(['10.0.2.9']), subnets: ['macvlan-2'], reservation: 'vip/web' },
      ],
    ],
  ];
  for (const [what, networks, annotations, expected] of requested)
    it(`the requests of a Pod ${what}`, () => {
      const { attachments, problems } = planOf(networks, annotations);
      expect(problems).to.deep.equal([]);
      expect(attachments).to.deep.equal(expected);
    });

  it('the requests of a Pod that names a Vip may change with the Vip, but not if the Pod lacks no address', () => {
    const vip = { 'ovn.kubernetes.io/vip': 'elsewhere' };
    expect([...planOf('macvlan', vip).topics]).to.include('vip:elsewhere');
    const { attachments, problems, topics } = planOf('', vip);
    expect([attachments, problems, topics.has('vip:elsewhere')]).to.deep.equal([[], [], false]);
  });

  const rejected: [networks: string, annotations: Record<string, string>, sentence: string][] = [
    ['macvlan', { 'ovn.kubernetes.io/vip': 'nowhere' }, 'annotation ovn.kubernetes.io/vip: there is no Vip nowhere'],
    [
      'macvlan',
      { 'ovn.kubernetes.io/vip': 'elsewhere' },
      'Vip elsewhere is of Subnet vlan, from which none of the Pod’s networks is served'.replace('’', "'"),
    ],
  ];
  for (const [networks, annotations, sentence] of rejected)
    it(`the requests of a Pod are empty for networks ${networks} with ${JSON.stringify(annotations)}`, () => {
      const { attachments, problems } = planOf(networks, annotations);
      expect(attachments).to.deep.equal([]);
      expect(problems).to.have.length(1);
      expect(problems[0]).to.include({ about: 'cluster' });
      expect(problems[0]?.text).to.contain(sentence);
    });
});

describe('a plan with a static MAC', () => {
  const mac = '02:00:00:00:00:01';
  const macAnnotation = (network: string) => ({ [`${network}.default.kubernetes.io/mac_address`]: mac });
  const beside = (name: string): string => JSON.stringify([{ name, mac }]);

  it('a plan with a static MAC warns if the plugin that makes the NIC does not get the MAC, and names the remedy', () => {
    for (const { attachments, warnings, problems } of [
      planOf('macvlan', macAnnotation('macvlan')),
      planOf(beside('macvlan')),
    ]) {
      expect(attachments).to.have.length(1);
      expect(problems).to.deep.equal([]);
      expect(warnings).to.deep.equal([
        `default/macvlan: the link gets MAC ${mac}, but the CNI result and network-status show another, and CHECK fails: the plugin that makes the NIC does not get the MAC. Give its plugin "capabilities": {"mac": true} and the Pod "mac": "${mac}" beside the network's name, or chain {"type": "kube-ovn"} behind its plugin`,
      ]);
    }
  });

  it('a plan with a static MAC warns if the plugin could get the MAC but the Pod requests it by annotation only', () => {
    expect(planOf('capable', macAnnotation('capable')).warnings).to.have.length(1);
    expect(planOf('capable', macAnnotation('capable')).warnings[0]).to.match(
      /Give "mac": "02:00:00:00:00:01" beside the network's name in the networks annotation$/,
    );
    expect(planOf(beside('capable')).warnings).to.deep.equal([]);
  });

  it('a plan with a static MAC has no warning if the result is corrected or the NIC is Kube-OVN’s', () => {
    for (const plan of [
      planOf('chained', macAnnotation('chained')),
      planOf('attachnet', { 'attachnet.default.ovn.kubernetes.io/mac_address': mac }),
      planOf('macvlan'),
      planOf('macvlan,chained', macAnnotation('chained')),
    ])
      expect(plan.warnings).to.deep.equal([]);
  });
});
