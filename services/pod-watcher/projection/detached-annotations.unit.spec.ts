import { expect } from 'chai';
import { podNamed } from '../testing/fakes.ts';
import { networksAnnotation } from '../kubernetes/objects/pod.ts';
import { detachedAnnotationKeys } from './pod-annotations.ts';

const of = (provider: string) => ({
  [`${provider}.kubernetes.io/ip_address`]: '10.0.0.2',
  [`${provider}.kubernetes.io/allocated`]: 'true',
  [`${provider}.kubernetes.io/ip_pool`]: '10.0.0.2,10.0.0.3',
});

function keys(networks: string, provider: string, { held = [] as string[], phase = 'Running' } = {}): string[] {
  const annotations = { [networksAnnotation]: networks, ...of(provider) };
  return detachedAnnotationKeys(
    podNamed('p', { annotations, status: { phase } }),
    Object.fromEntries(held.map((each) => [`${each}.kubernetes.io/allocated`, 'true'])),
  );
}

describe('Annotations of detached networks', () => {
  it('Annotations of detached networks are those that the projection wrote, but not the requests', () => {
    expect(keys('other', 'lan.default')).to.deep.equal([
      'lan.default.kubernetes.io/ip_address',
      'lan.default.kubernetes.io/allocated',
    ]);
    expect(keys('', 'lan.default.ovn')).to.have.length(2);
  });

  it('a network that an annotation selects in any form has no detached annotations', () => {
    for (const networks of ['lan', 'default/lan@net1', 'a,lan', '[{"name":"lan"}]', '[{"name": "lan", "ips": ["x"]'])
      expect(keys(networks, 'lan.default'), networks).to.deep.equal([]);
    expect(keys('lan', 'lan.default.ovn')).to.deep.equal([]);
    expect(keys('lan-2', 'lan.default')).to.have.length(2);
  });

  it('an allocated network, a terminated Pod and the primary network have no detached annotations', () => {
    expect(keys('', 'lan.default', { held: ['lan.default'] })).to.deep.equal([]);
    expect(keys('', 'lan.default', { phase: 'Succeeded' })).to.deep.equal([]);
    expect(keys('', 'ovn')).to.deep.equal([]);
  });
});
