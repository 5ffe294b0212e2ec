import { expect } from 'chai';
import { networkOf } from './network.ts';

describe('networkOf', () => {
  for (const [provider, subnet, network] of [
    ['lan.default', 'lan', 'lan.default'],
    ['lan.default', 'overlay', 'lan.default'],
    ['ovn', 'overlay', 'switch/overlay'],
    ['nic.default.ovn', 'overlay', 'switch/overlay'],
    // A NetworkAttachmentDefinition in a namespace named ovn.
    ['lan.ovn', 'lan', 'lan.ovn'],
  ] as const)
    it(`returns ${network} for provider ${provider} and Subnet ${subnet}`, () => {
      expect(networkOf(provider, subnet)).to.equal(network);
    });
});
