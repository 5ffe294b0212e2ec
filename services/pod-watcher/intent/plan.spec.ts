import { expect } from 'chai';
import { emptyNetwork, servedElsewhere } from './note.ts';
import { asks, key, plan, request, statefulSet } from './plan.fixture.ts';

describe('what is asked for on behalf of a Pod', () => {
  const asked: [what: string, networks: string, annotations: Record<string, string>, expected: object[]][] = [
    ['any free address of a Subnet of the provider', 'macvlan', {}, [request]],
    ['a fixed address', 'macvlan', { [key('ip_address')]: ' 172.17.0.100 ' }, [asks(['172.17.0.100'])]],
    [
      'a pair of both families',
      'macvlan',
      { [key('ip_address')]: 'fd00::1,10.0.0.1' },
      [asks(['10.0.0.1', 'fd00::1'])],
    ],
    ['one of a list', 'macvlan', { [key('ip_pool')]: '10.0.0.1,10.0.0.2' }, [asks(['10.0.0.1'], ['10.0.0.2'])]],
    [
      'a fixed address rather than a list',
      'macvlan',
      { [key('ip_pool')]: '10.0.0.1,10.0.0.2', [key('ip_address')]: '10.0.0.3' },
      [asks(['10.0.0.3'])],
    ],
    [
      'the interface’s address rather than the network’s',
      'macvlan@net1',
      { [key('ip_address.net1')]: '10.0.0.4', [key('ip_address')]: '10.0.0.3' },
      [{ ...asks(['10.0.0.4']), interface: 'net1' }],
    ],
    ['no interface’s address when none is named', 'macvlan', { [key('ip_address.net1')]: '10.0.0.4' }, [request]],
    [
      'what stands beside the network’s name before all else',
      '[{"name":"macvlan","ips":["10.0.0.5/16"],"mac":"02:00:00:00:00:05","interface":"net1"}]',
      { [key('ip_address.net1')]: '10.0.0.4', [key('mac_address')]: '02:00:00:00:00:03' },
      [{ ...asks(['10.0.0.5']), interface: 'net1', mac: '02:00:00:00:00:05' }],
    ],
    ['a MAC', 'macvlan', { [key('mac_address')]: '00:00:00:53:6B:BB' }, [{ ...request, mac: '00:00:00:53:6B:BB' }]],
    [
      'routes and a default route',
      'macvlan',
      { [key('routes')]: '[{"gw":"172.17.0.254"}]', [key('default_route')]: 'true' },
      [{ ...request, routes: [{ dst: '', gw: '172.17.0.254' }], defaultRoute: true }],
    ],
    [
      'the Subnet that is named',
      'macvlan',
      { [key('logical_switch')]: 'by-name' },
      [{ ...request, subnets: ['by-name'] }],
    ],
    [
      'what the primary network was asked for is not ours',
      'macvlan',
      { 'ovn.kubernetes.io/ip_address': 'nonsense' },
      [request],
    ],
    [
      'a Kube-OVN-type NIC under its own provider',
      'attachnet',
      {
        'attachnet.default.ovn.kubernetes.io/ip_address': '10.1.0.1',
        'attachnet.default.kubernetes.io/ip_address': '10.1.0.2',
      },
      [{ ...asks(['10.1.0.1']), provider: 'attachnet.default.ovn', subnets: ['attachnet'] }],
    ],
    ['one family only', 'macvlan', { [key('ip_family')]: 'ipv6' }, [{ ...request, ipFamily: 'ipv6' }]],
    [
      'any address of an IPPool, from the Subnet that it is of',
      'macvlan',
      { [key('ip_pool')]: ' pool-1 ' },
      [{ ...request, subnets: ['macvlan-2'], pool: 'pool-1' }],
    ],
    [
      'a fixed address rather than an IPPool',
      'macvlan',
      { [key('ip_pool')]: 'pool-1', [key('ip_address')]: '10.0.0.3' },
      [asks(['10.0.0.3'])],
    ],
    [
      'the addresses of a Vip, for the first NIC on its Subnet',
      'vlan,macvlan',
      { 'ovn.kubernetes.io/vip': 'web' },
      [
        { ...request, provider: 'vlan.default', subnets: ['vlan'] },
        { ...asks(['10.0.2.9']), subnets: ['macvlan-2'], reservation: 'vip/web' },
      ],
    ],
    [
      'an address inside the CIDR that is named, and any where the CIDR is what was given before',
      'macvlan',
      { [key('ip_address')]: '10.0.0.1', [key('cidr')]: '10.1.0.0/16', [key('allocated')]: 'true' },
      [asks(['10.0.0.1'])],
    ],
    [
      'a Subnet of the primary provider for a Kube-OVN-type NIC, also as main NIC',
      '',
      {
        'v1.multus-cni.io/default-network': 'attachnet',
        'attachnet.default.ovn.kubernetes.io/logical_switch': 'by-name',
      },
      [{ ...request, provider: 'attachnet.default.ovn', subnets: ['by-name'], interface: 'eth0' }],
    ],
    [
      'a main NIC of another plugin from the Subnet of its provider',
      '',
      { 'v1.multus-cni.io/default-network': 'macvlan', [key('logical_switch')]: 'macvlan-2' },
      [{ ...request, subnets: ['macvlan-2'], interface: 'eth0' }],
    ],
    [
      'NICs of one Kube-OVN-type network by the keys of their interfaces',
      'attachnet@net1,attachnet@net2',
      {
        'attachnet.default.ovn.net1.kubernetes.io/ip_address': '10.1.0.1',
        'attachnet.default.ovn.net2.kubernetes.io/ip_address': '10.1.0.2',
        'attachnet.default.ovn.net2.kubernetes.io/logical_switch': 'by-name',
        'attachnet.default.ovn.kubernetes.io/routes': '[{"gw":"10.1.0.254"}]',
      },
      [
        {
          ...asks(['10.1.0.1']),
          provider: 'attachnet.default.ovn',
          subnets: ['attachnet'],
          interface: 'net1',
          routes: [{ dst: '', gw: '10.1.0.254' }],
        },
        {
          ...asks(['10.1.0.2']),
          provider: 'attachnet.default.ovn',
          ordinal: 1,
          subnets: ['by-name'],
          interface: 'net2',
          routes: [{ dst: '', gw: '10.1.0.254' }],
        },
      ],
    ],
  ];
  for (const [what, networks, annotations, expected] of asked)
    it(what, () => {
      const { attachments, problems } = plan(networks, annotations);
      expect(problems).to.deep.equal([]);
      expect(attachments).to.deep.equal(expected);
    });

  it('numbers several attachments of one provider; the plain address is the first one’s', () => {
    const { attachments } = plan('macvlan@net1,vlan,macvlan@net2', {
      [key('ip_address')]: '10.0.0.1',
      [key('mac_address')]: '02:00:00:00:00:01',
      [key('ip_address.net2')]: '10.0.0.2',
    });
    expect(attachments).to.deep.equal([
      { ...asks(['10.0.0.1']), interface: 'net1', mac: '02:00:00:00:00:01' },
      { ...request, provider: 'vlan.default', subnets: ['vlan'] },
      { ...asks(['10.0.0.2']), ordinal: 1, interface: 'net2' },
    ]);
  });

  it('gives a further attachment any address when nothing names one for it, and each one of a list', () => {
    const fixed = { [key('ip_address')]: '10.0.0.1', [key('mac_address')]: '02:00:00:00:00:01' };
    expect(plan('macvlan,macvlan', fixed).attachments[1]).to.deep.equal({ ...request, ordinal: 1 });
    const { attachments } = plan('macvlan,macvlan', { [key('ip_pool')]: '10.0.0.1,10.0.0.2' });
    expect(attachments).to.deep.equal([
      asks(['10.0.0.1'], ['10.0.0.2']),
      { ...asks(['10.0.0.1'], ['10.0.0.2']), ordinal: 1 },
    ]);
  });

  it('gives a member of a StatefulSet its own entry of the list', () => {
    expect(
      plan('macvlan', { [key('ip_pool')]: '10.0.0.1,10.0.0.2,10.0.0.3' }, { owner: statefulSet }).attachments,
    ).to.deep.equal([asks(['10.0.0.2'])]);
    expect(plan('macvlan', { [key('ip_pool')]: '10.0.0.1' }, { owner: statefulSet }).problems[0]?.text).to.equal(
      `NoAvailableAddress: ${key('ip_pool')} has 1 entries, none for member 1 of the StatefulSet`,
    );
  });

  it('counts the members of a StatefulSet from where its ordinals begin', () => {
    const pool = { [key('ip_pool')]: '10.0.0.1,10.0.0.2,10.0.0.3' };
    const late = (name: string) => ({ owner: { ...statefulSet, name } });
    expect(plan('macvlan', pool, late('late')).problems[0]?.text).to.equal(
      `NoAvailableAddress: ${key('ip_pool')} has 3 entries, none for member 1 of the StatefulSet, whose first member is 5`,
    );
    expect(plan('macvlan', pool, late('unknown')).problems).to.deep.equal([
      { about: 'world', text: 'StatefulSet unknown is not known yet' },
    ]);
    expect(plan('macvlan', { [key('ip_pool')]: 'pool-1' }, late('unknown')).problems).to.deep.equal([]);
  });

  it('leaves out what is somebody else’s, and says why', () => {
    const { attachments, notes, problems } = plan('local,macvlan,empty');
    expect(attachments).to.deep.equal([request]);
    expect(problems).to.deep.equal([]);
    expect(notes).to.deep.equal([
      servedElsewhere('default/local', 'its addresses come from host-local, not from kube-ovn'),
      emptyNetwork('default/empty'),
    ]);
  });

  describe('of a static MAC', () => {
    const mac = '02:00:00:00:00:01';
    const asked = (network: string) => ({ [`${network}.default.kubernetes.io/mac_address`]: mac });
    const beside = (name: string): string => JSON.stringify([{ name, mac }]);

    it('warns where the plugin that makes the NIC does not learn it, and says what to do', () => {
      for (const { attachments, warnings, problems } of [plan('macvlan', asked('macvlan')), plan(beside('macvlan'))]) {
        expect(attachments).to.have.length(1);
        expect(problems).to.deep.equal([]);
        expect(warnings).to.deep.equal([
          `default/macvlan: the link gets MAC ${mac}, but the CNI result and network-status show another, and CHECK fails: the plugin that makes the NIC is not told the MAC. Give its plugin "capabilities": {"mac": true} and the Pod "mac": "${mac}" beside the network's name, or chain {"type": "kube-ovn"} behind its plugin`,
        ]);
      }
    });

    it('warns where the plugin could learn it, and the Pod gives it by annotation only', () => {
      expect(plan('capable', asked('capable')).warnings).to.have.length(1);
      expect(plan('capable', asked('capable')).warnings[0]).to.match(
        /Give "mac": "02:00:00:00:00:01" beside the network's name in the networks annotation$/,
      );
      expect(plan(beside('capable')).warnings).to.deep.equal([]);
    });

    it('does not warn where the result is corrected, where the NIC is Kube-OVN’s, and where none is asked for', () => {
      for (const made of [
        plan('chained', asked('chained')),
        plan('attachnet', { 'attachnet.default.ovn.kubernetes.io/mac_address': mac }),
        plan('macvlan'),
        plan('macvlan,chained', asked('chained')),
      ])
        expect(made.warnings).to.deep.equal([]);
    });
  });

  it('asks for nothing when a Pod has no attachments', () => {
    expect(plan('')).to.deep.include({ attachments: [], problems: [], notes: [] });
  });

  it('knows what a change of may help', () => {
    expect([...plan('macvlan,missing').topics]).to.have.members([
      'network:default/macvlan',
      'provider:macvlan.default',
      'subnet:macvlan',
      'subnet:macvlan-2',
      'network:default/missing',
    ]);
    expect(plan('macvlan', { [key('logical_switch')]: 'nowhere' }).topics).to.include('subnet:nowhere');
  });
});

describe('why nothing can be asked for', () => {
  const world: [networks: string, annotations: Record<string, string>, sentence: string][] = [
    ['missing', {}, 'there is no NetworkAttachmentDefinition default/missing: create it'],
    ['broken', {}, 'NetworkAttachmentDefinition default/broken: its spec.config is no valid JSON'],
    [
      'unbound',
      {},
      'provider unbound.default.ovn is not bound to any subnet: create a Subnet with spec.provider "unbound.default.ovn", or correct that of the one which is meant for it (kubectl get subnets)',
    ],
    ['wrong', {}, 'default/wrong: its configuration says provider "macvlan.default", and must say "wrong.default"'],
    [
      'macvlan',
      { [key('logical_switch')]: 'nowhere' },
      `annotation ${key('logical_switch')}: there is no Subnet nowhere`,
    ],
    [
      'macvlan',
      { [key('logical_switch')]: 'vlan' },
      `annotation ${key('logical_switch')}: Subnet vlan serves provider vlan.default: name one of provider ovn or macvlan.default`,
    ],
    [
      '',
      { 'v1.multus-cni.io/default-network': 'macvlan', [key('logical_switch')]: 'by-name' },
      'a main NIC of another plugin cannot have its address from Subnet by-name of provider ovn: give it a Subnet with spec.provider "macvlan.default"',
    ],
    ['macvlan', { [key('ip_pool')]: 'nowhere' }, `annotation ${key('ip_pool')}: there is no IPPool nowhere`],
    [
      'macvlan',
      { [key('ip_pool')]: 'vlan-pool' },
      'IPPool vlan-pool is of Subnet vlan, and provider macvlan.default is served from macvlan, macvlan-2: name a pool of that',
    ],
    ['macvlan', { 'ovn.kubernetes.io/vip': 'nowhere' }, 'annotation ovn.kubernetes.io/vip: there is no Vip nowhere'],
    [
      'macvlan',
      { 'ovn.kubernetes.io/vip': 'elsewhere' },
      'Vip elsewhere is of Subnet vlan, from which none of the Pod’s networks is served'.replace('’', "'"),
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
  const request_: [networks: string, annotations: Record<string, string>, sentence: string][] = [
    ['a@b@c', {}, `Invalid network object (failed at '@')`],
    [
      'macvlan',
      { [key('ip_address')]: 'not-an-ip' },
      `not-an-ip is not a valid ${key('ip_address')}: failed to parse IP not-an-ip`,
    ],
    ['macvlan', { [key('ip_address')]: '10.0.0.1/24' }, 'failed to parse IP 10.0.0.1/24'],
    [
      '[{"name":"macvlan","ips":["10.0.0.1","10.0.0.2"]}]',
      {},
      'multiple IPv4 addresses in ips "10.0.0.1,10.0.0.2": ips of network default/macvlan takes one of each family',
    ],
    [
      'macvlan',
      { [key('ip_address')]: '10.0.0.1,fd00::1,fd00::2' },
      'multiple IPv6 addresses in ip_address annotation "10.0.0.1,fd00::1,fd00::2"',
    ],
    [
      'macvlan@net1',
      { [key('ip_address.net1')]: 'x' },
      `x is not a valid macvlan.default.kubernetes.io/ip_address.net1`,
    ],
    // What another annotation goes before is checked all the same.
    [
      '[{"name":"macvlan","ips":["10.0.0.1"],"interface":"net1"}]',
      { [key('ip_address')]: 'x' },
      `x is not a valid ${key('ip_address')}`,
    ],
    ['[{"name":"macvlan","mac":"02:00"}]', {}, '02:00 is not a valid mac of network default/macvlan'],
    [
      'macvlan@net1',
      { [key('mac_address.net1')]: '02:00' },
      `02:00 is not a valid macvlan.default.kubernetes.io/mac_address.net1`,
    ],
    ['macvlan', { [key('ip_address')]: '10.0.0.1', [key('cidr')]: '10.1.0.0/16' }, '10.0.0.1 not in cidr 10.1.0.0/16'],
    ['macvlan', { [key('ip_pool')]: '10.0.0.1,10.1.0.1', [key('cidr')]: '10.1.0.0/16' }, '10.0.0.1 not in cidr'],
    ['macvlan', { [key('cidr')]: '10.1.0.0/1600' }, 'invalid cidr 10.1.0.0/1600'],
    ['macvlan', { [key('ip_family')]: 'IPv4' }, `IPv4 is not a valid ${key('ip_family')}`],
    ['macvlan', { [key('ip_family')]: 'dual' }, `dual is not a valid ${key('ip_family')}`],
    [
      'macvlan',
      { [key('ip_family')]: 'ipv4', [key('ip_address')]: 'fd00::15' },
      `fd00::15 does not match ${key('ip_family')} ipv4`,
    ],
    [
      'macvlan',
      { [key('ip_family')]: 'ipv6', [key('ip_pool')]: 'fd00::15;10.0.0.1' },
      `10.0.0.1 does not match ${key('ip_family')} ipv6`,
    ],
    ['[{"name":"macvlan","ips":["10.0.0.1"]}]', { [key('ip_family')]: 'ipv6' }, '10.0.0.1 does not match'],
    ['macvlan', { [key('ingress_rate')]: 'fast' }, `fast is not a valid ${key('ingress_rate')}`],
    ['macvlan', { [key('egress_burst')]: '-1' }, `-1 is not a valid ${key('egress_burst')}`],
    ['macvlan', { [key('mac_address')]: '00:00:54:17:2A' }, `00:00:54:17:2A is not a valid ${key('mac_address')}`],
    ['macvlan', { [key('ip_pool')]: '10.0.0.1,x' }, `x in ${key('ip_pool')} is not a valid address`],
    ['macvlan', { [key('routes')]: '{' }, `invalid routes for pod default/web-1: ${key('routes')}`],
    ['macvlan', { [key('default_route')]: 'yes' }, `yes is not a valid ${key('default_route')}: want true or false`],
  ];
  for (const [about, cases] of [
    ['world', world],
    ['request', request_],
  ] as const)
    for (const [networks, annotations, sentence] of cases)
      it(`${networks} ${JSON.stringify(annotations)}: ${about}`, () => {
        const { attachments, problems } = plan(networks, annotations);
        expect(attachments).to.deep.equal([]);
        expect(problems).to.have.length(1);
        expect(problems[0]).to.include({ about });
        expect(problems[0]?.text).to.contain(sentence);
      });

  it('names all that is wrong, and asks for none of the others', () => {
    const { attachments, problems } = plan('macvlan,missing,broken');
    expect(attachments).to.deep.equal([]);
    expect(problems).to.have.length(2);
  });
});
