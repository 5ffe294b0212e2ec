import { expect } from 'chai';
import { networksAnnotation, toPod } from '../kubernetes/objects.ts';
import { networkOf } from './network.ts';
import { planFor, type Sight } from './plan.ts';

const configs: Record<string, string> = {
  'default/macvlan': '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"macvlan.default"}}',
  'default/vlan': '{"type":"vlan","ipam":{"type":"kube-ovn","provider":"vlan.default"}}',
  'default/attachnet': '{"type":"kube-ovn","provider":"attachnet.default.ovn"}',
  'default/wrong': '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"macvlan.default"}}',
  'default/unbound': '{"type":"kube-ovn"}',
  'default/local': '{"type":"macvlan","ipam":{"type":"host-local"}}',
  'default/empty': '',
  'default/broken': '{not json',
};
const providers: Record<string, string[]> = {
  'macvlan.default': ['macvlan', 'macvlan-2'],
  'vlan.default': ['vlan'],
  'attachnet.default.ovn': ['attachnet'],
  'wrong.default': ['wrong'],
};
const sight: Sight = {
  network: (key) => {
    const [namespace = '', name = ''] = key.split('/');
    const config = configs[key];
    return config === undefined ? undefined : networkOf({ namespace, name, config });
  },
  subnets: {
    serves: (name) => ['macvlan', 'macvlan-2', 'vlan', 'attachnet', 'by-name'].includes(name),
    servingProvider: (provider) => providers[provider] ?? [],
    whyNot: () => '',
    whyNotServing: (name) => `there is no Subnet ${name}`,
  },
};

function plan(networks: string, annotations: Record<string, string> = {}, owner?: object) {
  const metadata = {
    name: 'web-1',
    namespace: 'default',
    uid: 'u',
    annotations: { [networksAnnotation]: networks, ...annotations },
    ...(owner ? { ownerReferences: [owner] } : {}),
  };
  return planFor(toPod({ metadata }), sight);
}

const key = (suffix: string) => `macvlan.default.kubernetes.io/${suffix}`;
const request = {
  provider: 'macvlan.default',
  ordinal: 0,
  interface: '',
  subnets: ['macvlan', 'macvlan-2'],
  candidates: [],
  mac: '',
  routes: [],
  defaultRoute: undefined,
};
const asks = (...addresses: string[][]) => ({ ...request, candidates: addresses.map((each) => ({ addresses: each })) });
const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'o', controller: true };

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
    expect(plan('macvlan', { [key('ip_pool')]: '10.0.0.1,10.0.0.2,10.0.0.3' }, statefulSet).attachments).to.deep.equal([
      asks(['10.0.0.2']),
    ]);
    expect(plan('macvlan', { [key('ip_pool')]: '10.0.0.1' }, statefulSet).problems[0]?.text).to.equal(
      `NoAvailableAddress: ${key('ip_pool')} has 1 entries, none for member 1 of the StatefulSet`,
    );
  });

  it('leaves out what is somebody else’s, and says why', () => {
    const { attachments, notes, problems } = plan('local,macvlan,empty');
    expect(attachments).to.deep.equal([request]);
    expect(problems).to.deep.equal([]);
    expect(notes).to.deep.equal([
      'default/local is not served here: its addresses come from host-local, not from kube-ovn',
      'default/empty is not served here: its spec.config is empty, so no plugin can be asked for it',
    ]);
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
      'provider unbound.default.ovn is not bound to any subnet: create a Subnet with spec.provider "unbound.default.ovn"',
    ],
    ['wrong', {}, 'default/wrong: its configuration says provider "macvlan.default", and must say "wrong.default"'],
    [
      'macvlan',
      { [key('logical_switch')]: 'nowhere' },
      `annotation ${key('logical_switch')}: there is no Subnet nowhere`,
    ],
  ];
  const request_: [networks: string, annotations: Record<string, string>, sentence: string][] = [
    ['a@b@c', {}, `Invalid network object (failed at '@')`],
    ['macvlan', { [key('ip_address')]: 'not-an-ip' }, `${key('ip_address')}: failed to parse IP not-an-ip`],
    ['macvlan', { [key('ip_address')]: '10.0.0.1/24' }, 'failed to parse IP 10.0.0.1/24'],
    [
      '[{"name":"macvlan","ips":["10.0.0.1","10.0.0.2"]}]',
      {},
      'ips of network default/macvlan: 10.0.0.1,10.0.0.2 are not one address',
    ],
    ['macvlan', { [key('mac_address')]: '00:00:54:17:2A' }, `00:00:54:17:2A is not a valid ${key('mac_address')}`],
    ['macvlan', { [key('ip_pool')]: 'pool-1' }, 'names IPPool pool-1: IPPools are not served yet'],
    ['macvlan', { [key('ip_pool')]: '10.0.0.1,x' }, `x in ${key('ip_pool')} is not a valid address`],
    ['macvlan', { [key('ip_family')]: 'ipv6' }, `${key('ip_family')}: choosing a family is not served yet`],
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
