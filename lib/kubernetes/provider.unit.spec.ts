import { expect } from 'chai';
import { isOvnProvider } from './served-network.ts';

describe('Kube-OVN’s own providers', () => {
  it('Kube-OVN’s own providers are recognised by their format', () => {
    for (const provider of ['', 'ovn', 'net.default.ovn']) expect(isOvnProvider(provider), provider).to.equal(true);
    for (const provider of ['other-provider', 'invalid.format', 'macvlan.default', 'a.b.c.ovn'])
      expect(isOvnProvider(provider), provider).to.equal(false);
  });
});
