import { expect } from 'chai';
import { planProblemEvent } from '../pod-event-messages.ts';
import { annotationKey, defaultRequest, planOf, requestOfAddresses, statefulSet } from './testing/plan.fixture.ts';

describe('a request for an attachment', () => {
  const requested: [what: string, networks: string, annotations: Record<string, string>, expected: object[]][] = [
    ['is for any free address without annotations', 'macvlan', {}, [defaultRequest]],
    [
      'is for the address that ip_address names',
      'macvlan',
      { [annotationKey('ip_address')]: ' 172.17.0.100 ' },
      [requestOfAddresses(['172.17.0.100'])],
    ],
    [
      'is for the pair of both families that ip_address names',
      'macvlan',
      { [annotationKey('ip_address')]: 'fd00::1,10.0.0.1' },
      [requestOfAddresses(['10.0.0.1', 'fd00::1'])],
    ],
    [
      'is for one of the addresses that ip_pool lists',
      'macvlan',
      { [annotationKey('ip_pool')]: '10.0.0.1,10.0.0.2' },
      [requestOfAddresses(['10.0.0.1'], ['10.0.0.2'])],
    ],
    [
      'is for the address of ip_address if ip_pool lists others',
      'macvlan',
      { [annotationKey('ip_pool')]: '10.0.0.1,10.0.0.2', [annotationKey('ip_address')]: '10.0.0.3' },
      [requestOfAddresses(['10.0.0.3'])],
    ],
    [
      'is for the address of the interface if ip_address names another',
      'macvlan@net1',
      { [annotationKey('ip_address.net1')]: '10.0.0.4', [annotationKey('ip_address')]: '10.0.0.3' },
      [{ ...requestOfAddresses(['10.0.0.4']), interface: 'net1' }],
    ],
    [
      'ignores the address of an interface that the selection does not name',
      'macvlan',
      { [annotationKey('ip_address.net1')]: '10.0.0.4' },
      [defaultRequest],
    ],
    [
      'is for the ips and mac beside the network’s name if other annotations differ',
      '[{"name":"macvlan","ips":["10.0.0.5/16"],"mac":"02:00:00:00:00:05","interface":"net1"}]',
      { [annotationKey('ip_address.net1')]: '10.0.0.4', [annotationKey('mac_address')]: '02:00:00:00:00:03' },
      [{ ...requestOfAddresses(['10.0.0.5']), interface: 'net1', mac: '02:00:00:00:00:05' }],
    ],
    [
      'has the MAC of mac_address',
      'macvlan',
      { [annotationKey('mac_address')]: '00:00:00:53:6B:BB' },
      [{ ...defaultRequest, mac: '00:00:00:53:6b:bb' }],
    ],
    [
      'has the routes and the default route',
      'macvlan',
      { [annotationKey('routes')]: '[{"gw":"172.17.0.254"}]', [annotationKey('default_route')]: 'true' },
      [{ ...defaultRequest, routes: [{ dst: '', gw: '172.17.0.254' }], defaultRoute: true }],
    ],
    [
      'reads the keys of the provider for a Kube-OVN-type NIC',
      'attachnet',
      {
        'attachnet.default.ovn.kubernetes.io/ip_address': '10.1.0.1',
        'attachnet.default.kubernetes.io/ip_address': '10.1.0.2',
      },
      [{ ...requestOfAddresses(['10.1.0.1']), provider: 'attachnet.default.ovn', subnets: ['attachnet'] }],
    ],
    [
      'has the family of ip_family',
      'macvlan',
      { [annotationKey('ip_family')]: 'ipv6' },
      [{ ...defaultRequest, ipFamily: 'ipv6' }],
    ],
    [
      'ignores a cidr that shows an earlier allocation',
      'macvlan',
      {
        [annotationKey('ip_address')]: '10.0.0.1',
        [annotationKey('cidr')]: '10.1.0.0/16',
        [annotationKey('allocated')]: 'true',
      },
      [requestOfAddresses(['10.0.0.1'])],
    ],
    [
      'reads the keys of the interface if a Kube-OVN-type network is selected more than once',
      'attachnet@net1,attachnet@net2',
      {
        'attachnet.default.ovn.net1.kubernetes.io/ip_address': '10.1.0.1',
        'attachnet.default.ovn.net2.kubernetes.io/ip_address': '10.1.0.2',
        'attachnet.default.ovn.net2.kubernetes.io/logical_switch': 'by-name',
        'attachnet.default.ovn.kubernetes.io/routes': '[{"gw":"10.1.0.254"}]',
      },
      [
        {
          ...requestOfAddresses(['10.1.0.1']),
          provider: 'attachnet.default.ovn',
          subnets: ['attachnet'],
          interface: 'net1',
          routes: [{ dst: '', gw: '10.1.0.254' }],
        },
        {
          ...requestOfAddresses(['10.1.0.2']),
          provider: 'attachnet.default.ovn',
          ordinal: 1,
          subnets: ['by-name'],
          interface: 'net2',
          routes: [{ dst: '', gw: '10.1.0.254' }],
        },
      ],
    ],
  ];
  for (const [what, networks, annotations, expected] of requested)
    it(`a request for an attachment ${what}`, () => {
      const { attachments, problems } = planOf(networks, annotations);
      expect(problems).to.deep.equal([]);
      expect(attachments).to.deep.equal(expected);
    });

  it('a request for an attachment has an ordinal if its network is selected more than once; ip_address applies to the first', () => {
    const { attachments } = planOf('macvlan@net1,vlan,macvlan@net2', {
      [annotationKey('ip_address')]: '10.0.0.1',
      [annotationKey('mac_address')]: '02:00:00:00:00:01',
      [annotationKey('ip_address.net2')]: '10.0.0.2',
    });
    expect(attachments).to.deep.equal([
      { ...requestOfAddresses(['10.0.0.1']), interface: 'net1', mac: '02:00:00:00:00:01' },
      { ...defaultRequest, provider: 'vlan.default', subnets: ['vlan'] },
      { ...requestOfAddresses(['10.0.0.2']), ordinal: 1, interface: 'net2' },
    ]);
  });

  it('a request for a further attachment to the same network is for any address, or one of ip_pool', () => {
    const fixed = { [annotationKey('ip_address')]: '10.0.0.1', [annotationKey('mac_address')]: '02:00:00:00:00:01' };
    expect(planOf('macvlan,macvlan', fixed).attachments[1]).to.deep.equal({ ...defaultRequest, ordinal: 1 });
    const { attachments } = planOf('macvlan,macvlan', { [annotationKey('ip_pool')]: '10.0.0.1,10.0.0.2' });
    expect(attachments).to.deep.equal([
      requestOfAddresses(['10.0.0.1'], ['10.0.0.2']),
      { ...requestOfAddresses(['10.0.0.1'], ['10.0.0.2']), ordinal: 1 },
    ]);
  });

  it('a request for an attachment takes the entry of ip_pool with the member’s ordinal in its StatefulSet', () => {
    expect(
      planOf('macvlan', { [annotationKey('ip_pool')]: '10.0.0.1,10.0.0.2,10.0.0.3' }, { owner: statefulSet })
        .attachments,
    ).to.deep.equal([requestOfAddresses(['10.0.0.2'])]);
    expect(
      planOf('macvlan', { [annotationKey('ip_pool')]: '10.0.0.1' }, { owner: statefulSet }).problems[0]?.text,
    ).to.equal(`NoAvailableAddress: ${annotationKey('ip_pool')} has 1 entries, none for member 1 of the StatefulSet`);
  });
});

describe('an error in the annotations of an attachment', () => {
  const cases: [networks: string, annotations: Record<string, string>, sentence: string][] = [
    ['a@b@c', {}, `Invalid network object (failed at '@')`],
    [
      'macvlan',
      { [annotationKey('ip_address')]: 'not-an-ip' },
      `not-an-ip is not a valid ${annotationKey('ip_address')}: failed to parse IP not-an-ip`,
    ],
    ['macvlan', { [annotationKey('ip_address')]: '10.0.0.1/24' }, 'failed to parse IP 10.0.0.1/24'],
    [
      '[{"name":"macvlan","ips":["10.0.0.1","10.0.0.2"]}]',
      {},
      'multiple IPv4 addresses in ips "10.0.0.1,10.0.0.2": ips of network default/macvlan takes one of each family',
    ],
    [
      'macvlan',
      { [annotationKey('ip_address')]: '10.0.0.1,fd00::1,fd00::2' },
      'multiple IPv6 addresses in ip_address annotation "10.0.0.1,fd00::1,fd00::2"',
    ],
    [
      'macvlan@net1',
      { [annotationKey('ip_address.net1')]: 'x' },
      `x is not a valid macvlan.default.kubernetes.io/ip_address.net1`,
    ],
    // Validates a value that another annotation overrides, too.
    [
      '[{"name":"macvlan","ips":["10.0.0.1"],"interface":"net1"}]',
      { [annotationKey('ip_address')]: 'x' },
      `x is not a valid ${annotationKey('ip_address')}`,
    ],
    ['[{"name":"macvlan","mac":"02:00"}]', {}, '02:00 is not a valid mac of network default/macvlan'],
    [
      'macvlan@net1',
      { [annotationKey('mac_address.net1')]: '02:00' },
      `02:00 is not a valid macvlan.default.kubernetes.io/mac_address.net1`,
    ],
    [
      'macvlan',
      { [annotationKey('ip_address')]: '10.0.0.1', [annotationKey('cidr')]: '10.1.0.0/16' },
      '10.0.0.1 not in cidr 10.1.0.0/16',
    ],
    [
      'macvlan',
      { [annotationKey('ip_pool')]: '10.0.0.1,10.1.0.1', [annotationKey('cidr')]: '10.1.0.0/16' },
      '10.0.0.1 not in cidr',
    ],
    ['macvlan', { [annotationKey('cidr')]: '10.1.0.0/1600' }, 'invalid cidr 10.1.0.0/1600'],
    ['macvlan', { [annotationKey('ip_family')]: 'IPv4' }, `IPv4 is not a valid ${annotationKey('ip_family')}`],
    ['macvlan', { [annotationKey('ip_family')]: 'dual' }, `dual is not a valid ${annotationKey('ip_family')}`],
    [
      'macvlan',
      { [annotationKey('ip_family')]: 'ipv4', [annotationKey('ip_address')]: 'fd00::15' },
      `fd00::15 does not match ${annotationKey('ip_family')} ipv4`,
    ],
    [
      'macvlan',
      { [annotationKey('ip_family')]: 'ipv6', [annotationKey('ip_pool')]: 'fd00::15;10.0.0.1' },
      `10.0.0.1 does not match ${annotationKey('ip_family')} ipv6`,
    ],
    ['[{"name":"macvlan","ips":["10.0.0.1"]}]', { [annotationKey('ip_family')]: 'ipv6' }, '10.0.0.1 does not match'],
    ['macvlan', { [annotationKey('ingress_rate')]: 'fast' }, `fast is not a valid ${annotationKey('ingress_rate')}`],
    ['macvlan', { [annotationKey('ingress_burst')]: 'much' }, `much is not a valid ${annotationKey('ingress_burst')}`],
    ['macvlan', { [annotationKey('egress_burst')]: '-1' }, `-1 is not a valid ${annotationKey('egress_burst')}`],
    [
      'macvlan',
      { [annotationKey('mac_address')]: '00:00:54:17:2A' },
      `00:00:54:17:2A is not a valid ${annotationKey('mac_address')}`,
    ],
    [
      'macvlan',
      { [annotationKey('ip_pool')]: '10.0.0.1,x' },
      `x in ${annotationKey('ip_pool')} is not a valid address`,
    ],
    ['macvlan', { [annotationKey('routes')]: '{' }, `invalid routes for pod default/web-1: ${annotationKey('routes')}`],
    [
      'macvlan',
      { [annotationKey('default_route')]: 'yes' },
      `yes is not a valid ${annotationKey('default_route')}: must be true or false`,
    ],
  ];
  for (const [networks, annotations, sentence] of cases)
    it(`an error in the annotations of an attachment is reported for networks ${networks} with ${JSON.stringify(annotations)}`, () => {
      const { attachments, problems } = planOf(networks, annotations);
      expect(attachments).to.deep.equal([]);
      expect(problems).to.have.length(1);
      expect(problems[0]).to.include({ about: 'request' });
      expect(problems[0]?.text).to.contain(sentence);
    });
});

describe('several errors in the annotations of an attachment', () => {
  /** Malformed values, in the order of docs/annotations.md. */
  const errors: [suffix: string, wrong: string, sentence: string][] = [
    ['cidr', 'x', 'invalid cidr x'],
    ['ip_family', 'x', `x is not a valid ${annotationKey('ip_family')}`],
    ['ip_pool', 'x,y', `x in ${annotationKey('ip_pool')} is not a valid address`],
    ['ip_address.net1', 'x', `x is not a valid ${annotationKey('ip_address.net1')}`],
    ['ip_address', 'x', `x is not a valid ${annotationKey('ip_address')}`],
    ['mac_address.net1', 'x', `x is not a valid ${annotationKey('mac_address.net1')}`],
    ['mac_address', 'x', `x is not a valid ${annotationKey('mac_address')}`],
    ['ingress_rate', 'x', `x is not a valid ${annotationKey('ingress_rate')}`],
    ['ingress_burst', 'x', `x is not a valid ${annotationKey('ingress_burst')}`],
    ['egress_rate', 'x', `x is not a valid ${annotationKey('egress_rate')}`],
    ['egress_burst', 'x', `x is not a valid ${annotationKey('egress_burst')}`],
    ['routes', 'x', `invalid routes for pod default/web-1: ${annotationKey('routes')}`],
    ['default_route', 'x', `x is not a valid ${annotationKey('default_route')}`],
  ];
  const networks = '[{"name":"macvlan","interface":"net1","ips":["x"],"mac":"y"}]';

  it('several errors in the annotations of an attachment are reported in the documented order, for any order of the annotations', () => {
    for (const [index, [suffix, , sentence]] of errors.entries()) {
      const left = errors.slice(index).map(([each, wrong]) => [annotationKey(each), wrong] as const);
      const { problems } = planOf(networks, Object.fromEntries(left.reverse()));
      expect(problems, suffix).to.have.length(1);
      expect(problems[0]?.text, suffix).to.contain(sentence);
    }
    expect(planOf(networks).problems[0]?.text).to.contain('x is not a valid ips of network default/macvlan');
  });

  it('errors in the annotations of a network that is not served here are not reported', () => {
    const annotations = Object.fromEntries(
      errors.map(([suffix, wrong]) => [`local.default.kubernetes.io/${suffix}`, wrong]),
    );
    expect(planOf('local@net1', annotations).problems).to.deep.equal([]);
  });
});

describe('a key for the interface of a Kube-OVN-type NIC', () => {
  const ofProvider = 'attachnet.default.ovn.kubernetes.io';
  const ofInterface = 'attachnet.default.ovn.net1.kubernetes.io';
  const addressKey = 'attachnet.default.kubernetes.io/ip_address.net1';
  const contradictions: [networks: string, annotations: Record<string, string>, sentence: string][] = [];
  for (const networks of ['attachnet@net1', 'attachnet@net1,attachnet@net2'])
    for (const prefix of [ofInterface, ofProvider])
      for (const addresses of [
        { [addressKey]: '10.1.0.1' },
        { [`${ofInterface}/ip_address`]: '10.1.0.1' },
        { [`${ofInterface}/ip_pool`]: '10.1.0.1,10.1.0.2' },
      ])
        contradictions.push(
          [networks, { [`${prefix}/ip_family`]: 'ipv6', ...addresses }, `10.1.0.1 does not match ${prefix}/ip_family`],
          [networks, { [`${prefix}/cidr`]: '10.2.0.0/16', ...addresses }, '10.1.0.1 not in cidr 10.2.0.0/16'],
        );
  for (const [networks, annotations, sentence] of contradictions)
    it(`a key for the interface of a Kube-OVN-type NIC is compared with all its other keys, for networks ${networks} with ${JSON.stringify(annotations)}`, () => {
      const { attachments, problems } = planOf(networks, annotations);
      expect(attachments).to.deep.equal([]);
      expect(problems[0]?.text).to.contain(sentence);
    });

  it('a key for the interface of a Kube-OVN-type NIC fails for an IP family that does not match the ips of the network selection', () => {
    const networks = '[{"name":"attachnet","interface":"net1","ips":["10.1.0.1"]}]';
    const { problems } = planOf(networks, { [`${ofInterface}/ip_family`]: 'ipv6' });
    expect(problems[0]?.text).to.contain(`10.1.0.1 does not match ${ofInterface}/ip_family`);
  });

  it('a key for the interface of a Kube-OVN-type NIC applies to the only NIC of a network, before the key of the provider', () => {
    const { attachments, problems } = planOf('attachnet@net1', {
      [`${ofInterface}/ip_address`]: '10.1.0.1',
      [`${ofProvider}/ip_address`]: '10.1.0.2',
      [`${ofInterface}/mac_address`]: '02:00:00:00:00:01',
      [`${ofInterface}/logical_switch`]: 'by-name',
      [`${ofProvider}/ip_family`]: 'ipv4',
    });
    expect(problems).to.deep.equal([]);
    expect(attachments).to.have.length(1);
    expect(attachments[0]).to.include({ mac: '02:00:00:00:00:01', ipFamily: 'ipv4' });
    expect(attachments[0]).to.deep.include({ candidates: [{ addresses: ['10.1.0.1'] }], subnets: ['by-name'] });
  });

  it('a key for the interface of a Kube-OVN-type NIC applies to a NIC whose name has a dot', () => {
    const { attachments } = planOf('[{"name":"attachnet","interface":"net1.5"}]', {
      'attachnet.default.ovn.net1.5.kubernetes.io/ip_address': '10.1.0.1',
    });
    expect(attachments[0]).to.deep.include({ candidates: [{ addresses: ['10.1.0.1'] }], interface: 'net1.5' });
  });

  it('a key for the interface of a Kube-OVN-type NIC applies to no NIC without that name', () => {
    const { attachments } = planOf('attachnet@net2', { [`${ofInterface}/ip_address`]: '10.1.0.1' });
    expect(attachments[0]).to.deep.include({ candidates: [] });
  });

  it('a key for the interface of a Kube-OVN-type NIC is a result, and no constraint, beside allocated of the same interface', () => {
    const { problems } = planOf('attachnet@net1', {
      [addressKey]: '10.1.0.1',
      [`${ofInterface}/cidr`]: '10.2.0.0/16',
      [`${ofInterface}/allocated`]: 'true',
    });
    expect(problems).to.deep.equal([]);
  });
});

const networks = ['attachnet', 'attachnet@net1', 'attachnet,attachnet', 'attachnet@net1,attachnet@net2'];
const providers = ['attachnet.default.ovn', 'attachnet.default.ovn.net1'];

describe('a value in the annotations of a Kube-OVN-type network', () => {
  for (const network of networks)
    for (const provider of providers)
      for (const [suffix, wrong] of [
        ['ip_family', 'IPv4'],
        ['egress_rate', 'fast'],
      ] as const)
        it(`a value in the annotations of a Kube-OVN-type network is validated once for ${provider}.kubernetes.io/${suffix} and networks ${network}`, () => {
          const key = `${provider}.kubernetes.io/${suffix}`;
          const rejected = planOf(network, { [key]: wrong });
          expect(rejected.attachments).to.deep.equal([]);
          const { reason, message } = planProblemEvent(rejected);
          expect(reason).to.equal('ValidatePodNetworkFailed');
          expect(message.split(`${wrong} is not a valid ${key}`)).to.have.length(2);
          expect(message).not.to.contain('nothing is allocated until');
        });

  it('a value in the annotations of a Kube-OVN-type network is ignored under the keys of other providers, and of interfaces of other plugins', () => {
    for (const provider of ['other.default.ovn', 'attachnet.default.ovn.a.b', 'macvlan.default.net1', 'ovn'])
      expect(planOf('macvlan,attachnet', { [`${provider}.kubernetes.io/ip_family`]: 'IPv4' }).problems).to.deep.equal(
        [],
      );
  });

  it('a value under the key of an interface applies to that NIC alone', () => {
    const { attachments } = planOf('attachnet@net1,attachnet@net2', {
      'attachnet.default.ovn.net2.kubernetes.io/ip_family': 'ipv6',
    });
    expect(attachments.map(({ ipFamily }) => ipFamily)).to.deep.equal(['', 'ipv6']);
  });
});
