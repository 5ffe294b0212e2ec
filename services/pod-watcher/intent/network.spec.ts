import { expect } from 'chai';
import { networkOf } from './network.ts';

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
      { kind: 'ipam', provider: 'macvlan.default', configured: 'macvlan.default' },
    ],
    [
      'one in a list of plugins',
      { plugins: [{ type: 'macvlan', ipam }, { type: 'tuning' }] },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'macvlan.default' },
    ],
    [
      'a provider is derived from the object, not read from inside',
      { type: 'macvlan', ipam: { type: 'kube-ovn', provider: 'something.else' } },
      { kind: 'ipam', provider: 'macvlan.default', configured: 'something.else' },
    ],
    [
      'a NIC of Kube-OVN’s own type',
      { type: 'kube-ovn', provider: 'macvlan.default.ovn' },
      { kind: 'ovn', provider: 'macvlan.default.ovn', configured: 'macvlan.default.ovn' },
    ],
    [
      'the same in a list, before another plugin’s IPAM',
      { plugins: [{ type: 'macvlan', ipam }, { type: 'kube-ovn' }] },
      { kind: 'ovn', provider: 'macvlan.default.ovn', configured: '' },
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
});
