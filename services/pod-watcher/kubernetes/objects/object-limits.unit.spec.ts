/** Tests the limits of Subnets, IPPools, Vips, IPs, networks, namespaces and Nodes. */
import { expect } from 'chai';
import { NamespaceBindings } from '../../controllers/namespaces/namespace-bindings.ts';
import { classifyNetwork } from '../../controllers/network-definitions/classify-network.ts';
import { SubnetCache } from '../../controllers/subnets/subnet-cache.ts';
import { allowsNamespace } from '../../controllers/namespaces/namespace-access.ts';
import { ipPools } from './ip-pool.ts';
import { ips } from './ip.ts';
import { toSubnet } from './subnet.ts';
import { vips } from './vip.ts';
import { namespaces } from './namespace.ts';
import { networkDefinitions } from './network-definition.ts';
import { nodes } from './node.ts';

const metadata = { name: 'one', namespace: 'n', uid: 'u' };
const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
/** A value with 9,999 levels: the API server accepts 10,000. */
const nested = JSON.parse('['.repeat(9_999) + ']'.repeat(9_999)) as object;
const problemsOf = (kind: 'Subnet' | 'IPPool' | 'Vip' | 'IP', spec: object): readonly string[] => {
  const parse = { Subnet: toSubnet, IPPool: ipPools.parse, Vip: vips.parse, IP: ips.parse }[kind];
  return parse({ metadata, spec }).problems;
};

describe('An object over a limit is reported with the limit:', () => {
  const over: [kind: 'Subnet' | 'IPPool' | 'Vip' | 'IP', spec: object, sentence: string][] = [
    [
      'Subnet',
      { excludeIps: times(4_097, '10.0.0.1') },
      'spec.excludeIps has 4097 entries, and at most 4096 are taken: remove some',
    ],
    ['Subnet', { excludeIps: ['x'.repeat(254)] }, 'an entry of spec.excludeIps has 254 characters'],
    ['Subnet', { cidrBlock: times(20, '10.0.0.0/24').join(',') }, 'spec.cidrBlock has 239 characters, and at most 128'],
    ['Subnet', { gateway: 'x'.repeat(129) }, 'spec.gateway has 129 characters'],
    ['Subnet', { gateway: nested }, 'spec.gateway must be a text, and is nested too deeply'],
    ['Subnet', { namespaceSelectors: nested }, 'spec.namespaceSelectors is nested too deeply: remove some levels'],
    ['IP', { more: nested }, 'spec is nested too deeply: remove some levels'],
    ['Subnet', { provider: 'x'.repeat(338) }, 'spec.provider has 338 characters'],
    ['Subnet', { namespaces: ['a', ''] }, 'spec.namespaces has an empty entry: remove it, or name a namespace'],
    ['Subnet', { namespaces: times(4_097, 'a') }, 'spec.namespaces has 4097 names'],
    ['Subnet', { vips: times(257, '10.0.0.1') }, 'spec.vips has 257 addresses'],
    [
      'Subnet',
      { namespaceSelectors: times(1_000, { matchLabels: { a: 'b' } }) },
      'spec.namespaceSelectors, as JSON, has 26001 characters, and at most 16384 are taken: shorten it',
    ],
    ['IPPool', { ips: times(4_097, '10.0.0.1') }, 'spec.ips has 4097 entries, and at most 4096 are taken: remove some'],
    ['IPPool', { ips: ['x'.repeat(254)] }, 'an entry of spec.ips has 254 characters'],
    ['IPPool', { namespaces: times(4_097, 'a') }, 'spec.namespaces has 4097 names'],
    ['IPPool', { namespaces: [''] }, 'spec.namespaces has an empty entry: remove it, or name a namespace'],
    ['IPPool', { subnet: 'x'.repeat(254) }, 'spec.subnet has 254 characters'],
    ['Vip', { v4ip: '1'.repeat(65) }, 'spec.v4ip has 65 characters, and at most 64 are taken: shorten it'],
    ['Vip', { v6ip: '1'.repeat(65) }, 'spec.v6ip has 65 characters'],
    ['Vip', { macAddress: '1'.repeat(65) }, 'spec.macAddress has 65 characters'],
    ['Vip', { subnet: 'x'.repeat(254) }, 'spec.subnet has 254 characters'],
    ['Vip', { namespace: 'x'.repeat(254) }, 'spec.namespace has 254 characters'],
    ['Vip', { namespace: 7 }, 'spec.namespace must be a text, and is 7'],
    ['IP', { ipAddress: times(100, '10.0.0.1').join(',') }, 'spec.ipAddress has 899 characters, and at most 128'],
    ['IP', { anything: 'x'.repeat(9_000) }, 'spec, as JSON, has 9015 characters, and at most 8192 are taken'],
  ];
  for (const [kind, spec, sentence] of over)
    it(`${kind} over a limit is reported, for ${Object.keys(spec).join()}: ${sentence}`, () => {
      expect(problemsOf(kind, spec)).to.have.length(1);
      expect(problemsOf(kind, spec)[0]).to.contain(sentence);
    });

  it('a NetworkAttachmentDefinition with a configuration of a megabyte, or with many plugins, is reported with the limit', () => {
    const large = networkDefinitions.parse({ metadata, spec: { config: ' '.repeat(1 << 20) } });
    expect(large.config).to.equal('');
    expect(classifyNetwork(large)).to.deep.equal({
      kind: 'broken',
      problem: 'its spec.config has 1048576 characters, and at most 65536 are taken: shorten it',
    });
    const many = JSON.stringify({ plugins: times(33, { type: 'macvlan' }) });
    expect(classifyNetwork({ ...large, config: many, problem: undefined } as never)).to.deep.equal({
      kind: 'broken',
      problem: 'its spec.config has 33 plugins, and at most 32 are taken: remove some',
    });
  });

  it('a Namespace with more than 256 Subnets or IPPools is reported with the limit', () => {
    const annotations = {
      'ovn.kubernetes.io/logical_switch': times(257, 'a').join(','),
      'ovn.kubernetes.io/ip_pool': 'b',
    };
    const namespace = namespaces.parse({ metadata: { ...metadata, annotations } });
    expect([namespace.subnets, namespace.pools]).to.deep.equal([[], ['b']]);
    expect(namespace.problems).to.deep.equal([
      'annotation ovn.kubernetes.io/logical_switch has 257 names, and at most 256 are taken: remove some',
    ]);
  });

  it('only the first 32 addresses of a Node are read', () => {
    const addresses = times(1_000, { type: 'InternalIP', address: '10.0.0.1' });
    expect(nodes.parse({ metadata, status: { addresses } }).addresses).to.have.length(32);
  });
});

describe('An unreadable field grants no access:', () => {
  const subnet = (spec: object) => toSubnet({ metadata, spec });
  const shop = { name: 'shop', labels: {} };

  it('a Subnet with a provider over its limit does not serve the primary network', () => {
    for (const provider of ['x'.repeat(338), 7]) {
      const { name, spec } = subnet({ provider, namespaces: ['shop'] });
      expect(spec.provider).to.equal('(unreadable)');
      const object = subnet({ provider, namespaces: ['shop'] });
      const bindings = new NamespaceBindings();
      bindings.putNamespace(namespaces.parse({ metadata: { name: 'shop', uid: 'u' } }));
      expect([...bindings.putSubnet(object)]).to.deep.equal([]);
      expect(new SubnetCache(new Map([[name, object]])).whyNot('ovn')).to.equal('');
    }
  });

  it('a Subnet with an empty namespace name allows no namespace', () => {
    expect(allowsNamespace(subnet({ namespaces: [''] }).namespaceRestriction, shop)).to.equal(false);
  });

  it('a Vip with a namespace over its limit allows no namespace', () => {
    for (const namespace of ['x'.repeat(254), 7])
      expect(vips.parse({ metadata, spec: { namespace } }).spec.namespace).to.equal('(unreadable)');
  });
});

describe('An object within its limits', () => {
  it('an object within its limits has no problems', () => {
    const excludeIps = times(4_096, '10.0.0.2..10.0.0.9');
    expect(problemsOf('Subnet', { cidrBlock: '10.0.0.0/16,fd00::/64', excludeIps })).to.deep.equal([]);
    expect(problemsOf('Subnet', { provider: 'x'.repeat(337) })).to.deep.equal([]);
    expect(problemsOf('IPPool', { subnet: 's', ips: excludeIps })).to.deep.equal([]);
    expect(problemsOf('Vip', { subnet: 's', v4ip: '10.0.0.2' })).to.deep.equal([]);
    expect(problemsOf('IP', { subnet: 's', ipAddress: '10.0.0.2,fd00::2' })).to.deep.equal([]);
  });
});
