import { expect } from 'chai';
import { FakeInformer } from '../../testing/fakes.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import { classifyNetwork, NetworkDefinitionCache } from './classify-network.ts';
import { AddressOverlapDetector } from './address-overlap-detector.ts';

const of = (config: unknown) =>
  classifyNetwork({
    namespace: 'default',
    name: 'macvlan',
    config: typeof config === 'string' ? config : JSON.stringify(config),
  });
const ipam = { type: 'kube-ovn', provider: 'macvlan.default' };

describe('a NetworkAttachmentDefinition', () => {
  const cases: [what: string, config: unknown, expected: object][] = [
    [
      'with a plugin whose IPAM is kube-ovn',
      { type: 'macvlan', ipam },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'with a list that has such a plugin',
      { plugins: [{ type: 'macvlan', ipam }, { type: 'tuning' }] },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'with such a plugin that names no provider, in a configuration with a name',
      { name: 'office', type: 'macvlan', ipam: { type: 'kube-ovn' } },
      {
        kind: 'ipam',
        provider: 'macvlan.default',
        configuredProvider: '',
        macSupport: 'none',
        configuredName: 'office',
      },
    ],
    [
      'with another provider in its configuration',
      { type: 'macvlan', ipam: { type: 'kube-ovn', provider: 'something.else' } },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'something.else', macSupport: 'none' },
    ],
    [
      'with a NIC of Kube-OVN’s own type',
      { type: 'kube-ovn', provider: 'macvlan.default.ovn' },
      { kind: 'ovn', provider: 'macvlan.default.ovn', configuredProvider: 'macvlan.default.ovn', macSupport: 'own' },
    ],
    [
      'with such a NIC in a list, before other plugins',
      { plugins: [{ type: 'kube-ovn' }, { type: 'macvlan', ipam }] },
      { kind: 'ovn', provider: 'macvlan.default.ovn', configuredProvider: '', macSupport: 'own' },
    ],
    [
      'with kube-ovn chained behind a plugin whose IPAM is kube-ovn',
      { plugins: [{ type: 'macvlan', capabilities: { mac: true }, ipam }, { type: 'kube-ovn' }] },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'macvlan.default', macSupport: 'chained' },
    ],
    [
      'with names in another letter case and null, as Go reads them',
      { Type: 'macvlan', name: null, plugins: null, IPAM: { TYPE: 'kube-ovn', Provider: 'macvlan.default' } },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'with such names in a list',
      {
        plugins: [
          { Type: 'macvlan', ipam: null },
          { TYPE: 'tuning', Ipam: ipam },
        ],
      },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'with a list under another name, which libcni does not read',
      { Plugins: [{ type: 'macvlan', ipam }] },
      { kind: 'broken', problem: `its spec.config must have the 'type' or 'plugin' field` },
    ],
    ['of the type of Nodus', { type: 'ovn4nfvk8s-cni' }, { kind: 'ovn4nfv' }],
    ['of the type of ovn-kubernetes', { plugins: [{ type: 'ovn-k8s-cni-overlay' }] }, { kind: 'ovn4nfv' }],
    [
      'with kube-ovn chained behind a plugin with another IPAM',
      { plugins: [{ type: 'macvlan', ipam: { type: 'host-local' } }, { type: 'kube-ovn' }] },
      { kind: 'other', reason: 'its addresses come from host-local, not from kube-ovn' },
    ],
    [
      'with a plugin that gets a MAC from the networks annotation',
      { type: 'macvlan', capabilities: { mac: true, ips: true }, ipam },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'macvlan.default', macSupport: 'capability' },
    ],
    [
      'with malformed capabilities, which that plugin rejects',
      { type: 'macvlan', capabilities: { mac: 'yes' }, ipam },
      { kind: 'ipam', provider: 'macvlan.default', configuredProvider: 'macvlan.default', macSupport: 'none' },
    ],
    [
      'with a type and a list, which the type overrides,',
      { type: 'macvlan', ipam: { type: 'static' }, plugins: [{ type: 'kube-ovn' }] },
      { kind: 'other', reason: 'its addresses come from static, not from kube-ovn' },
    ],
    [
      'with another IPAM plugin',
      { plugins: [{ type: 'macvlan', ipam: { type: 'host-local' } }] },
      { kind: 'other', reason: 'its addresses come from host-local, not from kube-ovn' },
    ],
    [
      'without IPAM',
      { type: 'macvlan' },
      { kind: 'other', reason: 'its addresses come from no IPAM plugin, not from kube-ovn' },
    ],
  ];
  for (const [what, config, expected] of cases)
    it(`a NetworkAttachmentDefinition ${what} is classified`, () => expect(of(config)).to.deep.equal(expected));

  it('a NetworkAttachmentDefinition with an empty configuration is classified as empty', () => {
    expect(of(' ')).to.deep.equal({ kind: 'empty' });
  });

  const broken: [config: unknown, sentence: string][] = [
    ['{not json', 'its spec.config is not valid JSON'],
    [{ cniVersion: '1.0.0' }, `must have the 'type' or 'plugin' field`],
    [{ plugins: [] }, `must have the 'type' or 'plugin' field`],
    [{ type: 'macvlan', ipam: 'kube-ovn' }, 'its spec.config is not a CNI configuration: ipam'],
    [{ plugins: [{ type: 7 }] }, 'plugins.0.type'],
    ['[]', 'its spec.config is not a CNI configuration: at the top'],
  ];
  for (const [config, sentence] of broken)
    it(`a NetworkAttachmentDefinition with ${JSON.stringify(config)} is broken, with the place of the error`, () => {
      expect(of(config)).to.have.property('kind', 'broken');
      expect(of(config)).to.have.property('problem').that.contains(sentence);
    });

  it('a NetworkAttachmentDefinition in namespace ovn is broken with a dot in its name, because its provider is ambiguous', () => {
    const config = JSON.stringify({ type: 'macvlan', ipam: { type: 'kube-ovn', provider: 'net.default.ovn' } });
    const network = classifyNetwork({ namespace: 'ovn', name: 'net.default', config });
    expect(network).to.have.property('kind', 'broken');
    expect(classifyNetwork({ namespace: 'ovn', name: 'net', config })).to.have.property('kind', 'ipam');
  });

  it('a NetworkAttachmentDefinition is broken with the name whose provider is reserved for OVN4NFV requests', () => {
    const named = { namespace: 'kube-system', name: 'ovn4nfv' };
    expect(classifyNetwork({ ...named, config: '{"type":"kube-ovn"}' }))
      .to.have.property('problem')
      .that.matches(/^its provider ovn4nfv\.kube-system\.ovn is reserved .*: give it another name$/);
  });
});

describe('the networks that are served here', () => {
  const chained = { plugins: [{ type: 'macvlan', ipam: { ...ipam, type: 'ipledger' } }, { type: 'tuning' }] };
  const configs = {
    'of plugin ipledger': { type: 'macvlan', ipam: { ...ipam, type: 'ipledger' } },
    'of plugin ipledger in a list': chained,
    'of plugin kube-ovn': { type: 'macvlan', ipam },
    'of Kube-OVN’s own type': { type: 'kube-ovn', provider: 'macvlan.default.ovn' },
    'of OVN4NFV': { type: 'ovn4nfvk8s-cni' },
    'of another plugin': { type: 'macvlan', ipam: { type: 'whereabouts' } },
  };
  const kinds = (mode: object): unknown[] =>
    Object.values(configs).map(
      (config) =>
        classifyNetwork({ namespace: 'default', name: 'macvlan', config: JSON.stringify(config), ...mode }).kind,
    );

  it('the networks that are served here are those of both plugins, of Kube-OVN’s own type and of OVN4NFV', () => {
    expect(kinds({})).to.deep.equal(['ipam', 'ipam', 'ipam', 'ovn', 'ovn4nfv', 'other']);
  });

  it('the networks that are served here beside Kube-OVN are only those of plugin ipledger', () => {
    expect(kinds({ besideKubeOvn: true })).to.deep.equal(['ipam', 'ipam', 'other', 'other', 'other', 'other']);
  });
});

describe('the cost of a NetworkAttachmentDefinition', () => {
  const definition = (config: string, resourceVersion = '1'): NetworkDefinition => ({
    namespace: 'default',
    name: 'macvlan',
    uid: 'u',
    resourceVersion,
    config,
  });

  /** Subscribes everything that reads networks. */
  const subscribeAll = (source: FakeInformer<NetworkDefinition>, onChange: (key: string) => void = () => undefined) => [
    new NetworkDefinitionCache(source, onChange),
    new AddressOverlapDetector(source, () => undefined),
  ];

  /** Counts the calls of `JSON.parse` with a text. */
  function countParses(text: string, act: () => void): number {
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

  it('a NetworkAttachmentDefinition over the limit of plugins costs no validation', () => {
    const problem = 'its spec.config has 32000 plugins, and at most 32 are taken: remove some';
    const malformed = Array.from({ length: 32_000 }, () => 1);
    expect(of({ plugins: malformed })).to.deep.equal({ kind: 'broken', problem });
    expect(of({ type: 'macvlan', plugins: malformed })).to.deep.equal({ kind: 'broken', problem });
  });

  it('a NetworkAttachmentDefinition costs one parse for all subscribers', () => {
    const config = JSON.stringify({ type: 'host-local' });
    const source = new FakeInformer<NetworkDefinition>();
    subscribeAll(source);
    expect(countParses(config, () => source.put(definition(config)))).to.equal(1);
  });

  it('a NetworkAttachmentDefinition with an unchanged configuration costs no parse and no wake-up of Pods', () => {
    const config = JSON.stringify({ type: 'macvlan', ipam });
    const source = new FakeInformer<NetworkDefinition>();
    const changed: string[] = [];
    subscribeAll(source, (key) => changed.push(key));
    source.put(definition(config));
    expect(countParses(config, () => source.put(definition(config, '2')))).to.equal(0);
    expect(changed).to.deep.equal(['default/macvlan']);
    source.put({ ...definition(config, '3'), resource: 'vendor/nic' });
    source.put(definition('{}', '4'));
    expect(changed).to.have.length(3);
  });
});
