import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { root } from '../../../../../../test/harness/paths.ts';
import { planOf } from '../testing/plan.fixture.ts';

const provider = 'ovn4nfv.kube-system.ovn';
const nfnKey = 'k8s.plugin.opnfv.org/nfn-network';

/** Reads the annotations of a Pod of the document. */
function annotationsOf(file: string): Record<string, string> {
  const path = join(root, 'test', 'manifests', 'networking-plugin', `${file}.yaml`);
  return (parse(readFileSync(path, 'utf8')) as { metadata: { annotations: Record<string, string> } }).metadata
    .annotations;
}

const listOf = (...interfaces: object[]) => planOf('', { ovnNetwork: JSON.stringify(interfaces) });
const nfnOf = (...interfaces: object[]) =>
  planOf('', { [nfnKey]: JSON.stringify({ type: 'ovn4nfv', interface: interfaces }) });
const net0 = { name: 'ovn-ls-25', interface: 'net0' };
const net1 = { name: 'ovn-ls-26', interface: 'net1' };
const problemsOf = ({ problems }: ReturnType<typeof planOf>) => problems.map(({ text }) => text).join('; ');

const dynamic = {
  provider,
  ordinal: 0,
  interface: 'net0',
  subnets: ['ovn-ls-25'],
  candidates: [],
  pool: '',
  mac: '',
  ipFamily: '',
  routes: [],
  defaultRoute: false,
};
const fixed = {
  ...dynamic,
  ordinal: 1,
  interface: 'net1',
  subnets: ['ovn-ls-26'],
  candidates: [{ addresses: ['172.16.26.3'] }],
  mac: '0a:00:00:00:00:15',
};

describe('An OVN4NFV request', () => {
  it('An OVN4NFV request of the document becomes one request for each interface, in their order', () => {
    const plan = planOf('', annotationsOf('01-pod-ovn-network'));
    expect(plan.attachments).to.deep.equal([dynamic, fixed]);
    expect(plan).to.deep.include({ problems: [], unserved: [], detached: [] });
    expect([...plan.topics]).to.include.members([`provider:${provider}`, 'subnet:ovn-ls-25', 'subnet:ovn-ls-26']);
  });

  it('An OVN4NFV request may have camel-case keys, as in later revisions', () => {
    const { attachments } = listOf(net0, { ...net1, ipAddress: '172.16.26.3', macAddress: '0a:00:00:00:00:15' });
    expect(attachments).to.deep.equal([dynamic, fixed]);
  });

  it('An OVN4NFV request in the form of Nodus has keys in any case', () => {
    const { attachments } = nfnOf(net0, { ...net1, IPADDRESS: '172.16.26.3', macaddress: '0a:00:00:00:00:15' });
    expect(attachments).to.deep.equal([dynamic, fixed]);
  });

  it('An OVN4NFV request does not apply a value of one interface to the next interface', () => {
    const first = { ...net0, ipAddress: '172.16.25.9', macAddress: '0a:00:00:00:00:09', defaultGateway: 'true' };
    const { attachments } = listOf(first, net1);
    expect(attachments[1]).to.deep.equal({ ...dynamic, ordinal: 1, interface: 'net1', subnets: ['ovn-ls-26'] });
  });

  it('An OVN4NFV request becomes no request for any interface if one of them has a problem', () => {
    const plan = listOf(net0, { ...net1, name: 'nowhere' });
    expect([plan.attachments, plan.problems.length, plan.requestedProviders.size]).to.deep.equal([[], 1, 0]);
  });

  it('An OVN4NFV request for an address without a MAC gets any MAC', () => {
    expect(listOf({ ...net0, ip_address: '172.16.25.9/24' }).attachments).to.deep.equal([
      { ...dynamic, candidates: [{ addresses: ['172.16.25.9'] }] },
    ]);
  });

  it('An OVN4NFV request for a MAC without an address gets any address and MAC, which an Event reports', () => {
    const plan = listOf({ ...net0, mac_address: '0a:00:00:00:00:15' });
    expect(plan.attachments).to.deep.equal([dynamic]);
    expect(plan.unserved).to.have.length(1);
    expect(plan.unserved[0]).to.include({ type: 'Warning' });
    expect(plan.unserved[0]?.text).to.match(/^annotation ovnNetwork: network ovn-ls-25: the requested MAC is ignored/);
  });

  it('An OVN4NFV request gives the default route to the first NIC that requests it', () => {
    const { attachments } = listOf(
      net0,
      { ...net1, defaultGateway: 'true' },
      { ...net1, interface: 'net2', defaultGateway: 'true' },
    );
    expect(attachments.map(({ defaultRoute }) => defaultRoute)).to.deep.equal([false, true, false]);
  });

  it('An OVN4NFV request with its own gateway has the default route through that gateway', () => {
    const { attachments } = nfnOf({ ...net0, defaultGateway: 'true', gwipaddress: '172.16.25.254' });
    expect(attachments[0]).to.deep.include({ defaultRoute: false, routes: [{ dst: '', gw: '172.16.25.254' }] });
  });

  it('An OVN4NFV request has each route on its interface', () => {
    const routes = [{ dst: '10.0.0.0/8', gw: '172.16.26.1', dev: 'net1' }];
    const { attachments } = planOf('', {
      ovnNetwork: JSON.stringify([net0, net1]),
      ovnNetworkRoutes: JSON.stringify(routes),
    });
    expect(attachments.map((each) => each.routes)).to.deep.equal([[], [{ dst: '10.0.0.0/8', gw: '172.16.26.1' }]]);
  });

  it('An OVN4NFV request is served as a whole or not at all', () => {
    const plan = planOf('macvlan', { ovnNetwork: JSON.stringify([net0, { ...net1, name: 'nowhere' }]) });
    expect(plan.attachments, 'neither the first interface nor the other network').to.deep.equal([]);
    expect(problemsOf(plan)).to.equal(
      'annotation ovnNetwork: network nowhere: there is no Subnet nowhere: create or correct it',
    );
    expect([...plan.topics]).to.include('subnet:nowhere');
  });

  it('An OVN4NFV request is allocated together with the networks of Multus', () => {
    const plan = planOf('macvlan', annotationsOf('01-pod-ovn-network'));
    expect(plan.attachments.map((each) => each.provider)).to.deep.equal(['macvlan.default', provider, provider]);
  });

  it('An OVN4NFV request is served once: a later change has no effect, and detaches nothing', () => {
    const addresses = [{ address: '172.16.25.2', cidr: '172.16.25.0/24', gateway: '172.16.25.1' }];
    const held = [{ seq: 1, provider, ordinal: 0, interface: 'net0', addresses }];
    for (const ovnNetwork of [JSON.stringify([net1]), '{malformed', '']) {
      const plan = planOf('', { ovnNetwork }, { held });
      expect(plan, ovnNetwork).to.deep.include({ attachments: [], detached: [], problems: [] });
    }
    expect(planOf('', {}, { held }).detached).to.deep.equal([]);
  });

  it('An OVN4NFV request may name a Subnet of the primary network, and no Subnet of another provider', () => {
    expect(listOf({ ...net0, name: 'pod-network' }).attachments[0]?.subnets).to.deep.equal(['pod-network']);
    for (const name of ['macvlan', 'attachnet'])
      expect(problemsOf(listOf({ ...net0, name }))).to.match(
        /Subnet \S+ serves provider .*: name one of provider ovn4nfv/,
      );
  });

  it('An OVN4NFV request cannot name a Subnet for other namespaces', () => {
    const ovnNetwork = JSON.stringify([{ ...net0, name: 'ovn-of-shop' }]);
    expect(problemsOf(planOf('', { ovnNetwork }))).to.contain('ovn-of-shop');
    const { attachments } = planOf('', { ovnNetwork }, { namespace: 'shop' });
    expect(attachments.map(({ subnets }) => subnets)).to.deep.include(['ovn-of-shop']);
  });
});

describe('The annotation ovn', () => {
  it('The annotation ovn of the document requests one NIC of the default network, with its address and MAC', () => {
    expect(planOf('', annotationsOf('02-pod-ovn-static')).attachments).to.deep.equal([
      {
        ...dynamic,
        interface: '',
        subnets: ['ovn-ls-25', 'ovn-ls-26'],
        candidates: [{ addresses: ['172.16.25.10'] }],
        mac: '0a:00:00:00:00:10',
        defaultRoute: undefined,
      },
    ]);
  });

  it('The annotation ovn is ignored beside ovnNetwork, even if it is malformed', () => {
    expect(planOf('', { ...annotationsOf('01-pod-ovn-network'), ovn: '{' }).attachments).to.deep.equal([
      dynamic,
      fixed,
    ]);
  });

  it('The annotation ovn names its NIC as the network that the Pod selects', () => {
    const plan = planOf('[{"name": "ovn-network", "interfaceRequest": "eth1"}]', annotationsOf('02-pod-ovn-static'));
    expect(plan.attachments.map((each) => each.interface)).to.deep.equal(['eth1']);
  });
});

describe('A network of an OVN4NFV type', () => {
  it('A network of an OVN4NFV type requests one NIC of the default network for a Pod without a request', () => {
    const early = { 'kubernetes.v1.cni.cncf.io/networks': '[{"name": "ovn-network", "interfaceRequest": "eth1"}]' };
    const plan = planOf('', { 'k8s.v1.cni.cncf.io/networks': undefined as unknown as string, ...early });
    expect(plan).to.deep.include({ problems: [], unserved: [] });
    expect(plan.attachments).to.deep.equal([
      { ...dynamic, interface: 'eth1', subnets: ['ovn-ls-25', 'ovn-ls-26'], defaultRoute: undefined },
    ]);
  });

  it('A network of an OVN4NFV type makes only the NICs of the request', () => {
    expect(planOf('ovn-network', annotationsOf('01-pod-ovn-network')).attachments).to.deep.equal([dynamic, fixed]);
  });

  it('A network of an OVN4NFV type can be selected once, unless the Pod names the interfaces', () => {
    expect(problemsOf(planOf('ovn-network,nfn'))).to.match(/selects several networks of an OVN4NFV type/);
    expect(planOf('ovn-network,nfn', annotationsOf('01-pod-ovn-network')).attachments).to.have.length(2);
  });
});

describe('A malformed OVN4NFV request', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ ...net0, interface: `net${index}` }));
  const cases: [what: string, annotations: Record<string, string>, expected: RegExp][] = [
    ['that is not JSON', { ovnNetwork: '[{' }, /^annotation ovnNetwork: not valid JSON: /],
    ['that is no array', { ovnNetwork: '{}' }, /must be a JSON array/],
    ['that is empty', { ovnNetwork: '[]' }, /has no interface: name one, or remove the annotation/],
    ['with a text as element', { ovnNetwork: '["net0"]' }, /element 0 of it must be an object/],
    [
      'without a network',
      { ovnNetwork: '[{"interface":"net0"}]' },
      /element 0: it has no name: write the name of a Subnet/,
    ],
    ['without an interface', { ovnNetwork: '[{"name":"ovn-ls-25"}]' }, /network ovn-ls-25 has no interface/],
    ['with one name twice', { ovnNetwork: JSON.stringify([net0, net0]) }, /interface net0 is requested twice/],
    [
      'with too many interfaces',
      { ovnNetwork: JSON.stringify(many(11)) },
      /it has 11 interfaces, and at most 10 are taken/,
    ],
    [
      'with too long a name',
      { ovnNetwork: '[{"name":"ovn-ls-25","interface":"net012345678"}]' },
      /interface .* is not valid/,
    ],
    [
      'with a slash in a name',
      { ovnNetwork: '[{"name":"ovn-ls-25","interface":"../0"}]' },
      /interface .* is not valid/,
    ],
    [
      'with a network that is no name',
      { ovnNetwork: '[{"name":"a/b","interface":"net0"}]' },
      /"a\/b" is not the name of a Subnet/,
    ],
    [
      'with the misprint of the document',
      { ovnNetwork: JSON.stringify([{ ...net0, ip_address: '172.16.2526.3' }]) },
      /172\.16\.2526\.3 is not a valid ip_address/,
    ],
    [
      'with two keys of one field',
      { ovnNetwork: JSON.stringify([{ ...net0, ip_address: '172.16.25.3', ipAddress: '172.16.25.4' }]) },
      /ip_address and ipaddress are the same field/,
    ],
    [
      'with an invalid MAC',
      { ovnNetwork: JSON.stringify([{ ...net0, ip_address: '172.16.25.3', mac_address: 'x' }]) },
      /x is not a valid mac_address/,
    ],
    [
      'with a number as address',
      { ovnNetwork: JSON.stringify([{ ...net0, ip_address: 3 }]) },
      /ip_address must be a text, and is 3/,
    ],
    [
      'with an invalid flag',
      { ovnNetwork: JSON.stringify([{ ...net0, defaultGateway: 'yes' }]) },
      /must be "true" or "false"/,
    ],
    [
      'with an unknown netType',
      { ovnNetwork: JSON.stringify([{ ...net0, netType: 'vlan' }]) },
      /netType "vlan" .* must be virtual or provider/,
    ],
    [
      'of a provider network without an address',
      { ovnNetwork: JSON.stringify([{ ...net0, netType: 'provider' }]) },
      /netType provider and no ipAddress/,
    ],
    [
      'of a provider network with a default gateway',
      {
        ovnNetwork: JSON.stringify([
          { ...net0, netType: 'provider', ipAddress: '172.16.25.3', defaultGateway: 'true' },
        ]),
      },
      /a provider network has no default gateway/,
    ],
    [
      'of another type',
      { [nfnKey]: '{"type":"other","interface":[]}' },
      /type "other" is not served: write "type": "ovn4nfv"/,
    ],
    [
      'of Nodus with keys of the other form',
      { [nfnKey]: JSON.stringify({ type: 'ovn4nfv', interface: [{ ...net0, ip_address: '172.16.25.3' }] }) },
      /ip_address is not a field of this form: write ipAddress/,
    ],
    ['in two forms', { ovnNetwork: '[]', [nfnKey]: '{}' }, /both request NICs: remove one of them/],
    [
      'with a route without a device',
      { ovnNetwork: JSON.stringify([net0]), ovnNetworkRoutes: '[{"dst":"10.0.0.0/8","gw":"172.16.25.1"}]' },
      /annotation ovnNetworkRoutes: dev "" of route 0 is not an interface/,
    ],
    [
      'with a route of another interface',
      {
        ovnNetwork: JSON.stringify([net0]),
        ovnNetworkRoutes: '[{"dst":"10.0.0.0/8","gw":"172.16.25.1","dev":"net7"}]',
      },
      /dev "net7" of route 0/,
    ],
    ['with an invalid gateway', { ovn: '{"gateway_ip":"gw"}' }, /annotation ovn: the gateway "gw"/],
    ['that is over the limit', { ovnNetwork: ' '.repeat(16_385) }, /annotation ovnNetwork has 16385 characters/],
  ];
  for (const [what, annotations, expected] of cases)
    it(`An OVN4NFV request ${what} allocates nothing, and the Event names the fault`, () => {
      const plan = planOf('macvlan', annotations);
      expect(plan.attachments).to.deep.equal([]);
      expect(plan.problems.map(({ about }) => about)).to.deep.equal(['request']);
      expect(problemsOf(plan)).to.match(expected);
    });

  it('A malformed OVN4NFV request with more interfaces and networks than a Pod may have allocates nothing', () => {
    const networks = Array.from({ length: 15 }, (_, index) => `macvlan@m${index}`).join(',');
    expect(problemsOf(planOf(networks, { ovnNetwork: JSON.stringify(many(10)) }))).to.match(
      /^the Pod has 25 networks and OVN4NFV interfaces, and at most 24 are taken/,
    );
  });
});
