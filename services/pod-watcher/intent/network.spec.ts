import { expect } from 'chai';
import { FakeSource } from '../fakes.ts';
import type { NetworkDefinition } from '../kubernetes/objects.ts';
import { networkOf } from './network.ts';
import { Networks } from './networks.ts';
import { WireWarnings } from './wire-warnings.ts';

const of = (config: unknown) =>
  networkOf({
    namespace: 'default',
    name: 'macvlan',
    config: typeof config === 'string' ? config : JSON.stringify(config),
  });
const ipam = { type: 'kube-ovn', provider: 'macvlan.default' };

describe('what a NetworkAttachmentDefinition is', () => {
  const cases: [what: string, config: unknown, expected: object][] = [
    [
      'a plugin that has its addresses from us',
      { type: 'macvlan', ipam },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'one in a list of plugins',
      { plugins: [{ type: 'macvlan', ipam }, { type: 'tuning' }] },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'a provider is derived from the object, not read from inside',
      { type: 'macvlan', ipam: { type: 'kube-ovn', provider: 'something.else' } },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'something.else', macSupport: 'none' },
    ],
    [
      'a NIC of Kube-OVN’s own type',
      { type: 'kube-ovn', provider: 'macvlan.default.ovn' },
      { kind: 'ovn', provider: 'macvlan.default.ovn', configured: 'macvlan.default.ovn', macSupport: 'own' },
    ],
    [
      'the same in a list, before other plugins',
      { plugins: [{ type: 'kube-ovn' }, { type: 'macvlan', ipam }] },
      { kind: 'ovn', provider: 'macvlan.default.ovn', configured: '', macSupport: 'own' },
    ],
    [
      'the chained plugin behind the one that makes the NIC, whose addresses come from us',
      { plugins: [{ type: 'macvlan', capabilities: { mac: true }, ipam }, { type: 'kube-ovn' }] },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'macvlan.default', macSupport: 'chained' },
    ],
    [
      'the chained plugin behind one whose addresses are not ours',
      { plugins: [{ type: 'macvlan', ipam: { type: 'host-local' } }, { type: 'kube-ovn' }] },
      { kind: 'other', reason: 'its addresses come from host-local, not from kube-ovn' },
    ],
    [
      'a plugin that takes a MAC from the networks annotation',
      { type: 'macvlan', capabilities: { mac: true, ips: true }, ipam },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'macvlan.default', macSupport: 'capability' },
    ],
    [
      'a plugin whose capabilities are malformed, which is its own to refuse',
      { type: 'macvlan', capabilities: { mac: 'yes' }, ipam },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'a single plugin’s type hides a list beside it',
      { type: 'macvlan', ipam: { type: 'static' }, plugins: [{ type: 'kube-ovn' }] },
      { kind: 'other', reason: 'its addresses come from static, not from kube-ovn' },
    ],
    [
      'somebody else’s addresses',
      { plugins: [{ type: 'macvlan', ipam: { type: 'host-local' } }] },
      { kind: 'other', reason: 'its addresses come from host-local, not from kube-ovn' },
    ],
    [
      'no addresses at all',
      { type: 'macvlan' },
      { kind: 'other', reason: 'its addresses come from no IPAM plugin, not from kube-ovn' },
    ],
  ];
  for (const [what, config, expected] of cases) it(what, () => expect(of(config)).to.deep.equal(expected));

  it('tells an empty configuration from one that others serve', () => {
    expect(of(' ')).to.deep.equal({ kind: 'empty' });
  });

  const broken: [config: unknown, sentence: string][] = [
    ['{not json', 'its spec.config is no valid JSON'],
    [{ cniVersion: '1.0.0' }, `must have the 'type' or 'plugin' field`],
    [{ plugins: [] }, `must have the 'type' or 'plugin' field`],
    [{ type: 'macvlan', ipam: 'kube-ovn' }, 'its spec.config is no CNI configuration: ipam'],
    [{ plugins: [{ type: 7 }] }, 'plugins.0.type'],
    ['[]', 'its spec.config is no CNI configuration: at the top'],
  ];
  for (const [config, sentence] of broken)
    it(`cannot use ${JSON.stringify(config)}, and says where`, () => {
      expect(of(config)).to.have.property('kind', 'broken');
      expect(of(config)).to.have.property('problem').that.contains(sentence);
    });

  it('cannot use a dotted name in a namespace called ovn: its provider reads as that of a Kube-OVN-type NIC', () => {
    const config = JSON.stringify({ type: 'macvlan', ipam: { type: 'kube-ovn', provider: 'net.default.ovn' } });
    const network = networkOf({ namespace: 'ovn', name: 'net.default', config });
    expect(network).to.have.property('kind', 'broken');
    expect(networkOf({ namespace: 'ovn', name: 'net', config })).to.have.property('kind', 'ipam');
  });
});

describe('the work on a NetworkAttachmentDefinition', () => {
  const definition = (config: string, resourceVersion = '1'): NetworkDefinition => ({
    namespace: 'default',
    name: 'macvlan',
    uid: 'u',
    resourceVersion,
    config,
  });

  /** All that looks at networks. */
  const watch = (source: FakeSource<NetworkDefinition>, onChange: (key: string) => void = () => undefined) => [
    new Networks(source, onChange),
    new WireWarnings(source, () => undefined),
  ];

  /** How often `JSON.parse` is called with a text. */
  function parses(text: string, act: () => void): number {
    const { parse } = JSON;
    let count = 0;
    JSON.parse = (...args) => {
      count += args[0] === text ? 1 : 0;
      return parse(...args) as unknown;
    };
    try {
      act();
    } finally {
      JSON.parse = parse;
    }
    return count;
  }

  it('counts the plugins before it reads any of them', () => {
    const problem = 'its spec.config has 32000 plugins, and at most 32 are taken: remove some';
    const malformed = Array.from({ length: 32_000 }, () => 1);
    expect(of({ plugins: malformed })).to.deep.equal({ kind: 'broken', problem });
    expect(of({ type: 'macvlan', plugins: malformed })).to.deep.equal({ kind: 'broken', problem });
  });

  it('is done once for all that need it', () => {
    const config = JSON.stringify({ type: 'host-local' });
    const source = new FakeSource<NetworkDefinition>();
    watch(source);
    expect(parses(config, () => source.put(definition(config)))).to.equal(1);
  });

  it('is not done again, and wakes no Pod, while its configuration stays the same', () => {
    const config = JSON.stringify({ type: 'macvlan', ipam });
    const source = new FakeSource<NetworkDefinition>();
    const changed: string[] = [];
    watch(source, (key) => changed.push(key));
    source.put(definition(config));
    expect(parses(config, () => source.put(definition(config, '2')))).to.equal(0);
    expect(changed).to.deep.equal(['default/macvlan']);
    source.put({ ...definition(config, '3'), resource: 'vendor/nic' });
    source.put(definition('{}', '4'));
    expect(changed).to.have.length(3);
  });
});
