import { expect } from 'chai';
import { allocated, released, subnetConfigured } from '../testing/event-fixtures.ts';
import { foldEvents } from '../testing/given-when-then.ts';
import { networkOf } from './network.ts';
import { claimOf } from './state.ts';

describe('The networks of an address', () => {
  it('the networks of an address are those of its Subnet and its present holder, not of an earlier holder', () => {
    const elsewhere = allocated('one', '172.17.0.11', { provider: 'other.default' });
    const history = [subnetConfigured(), elsewhere, released(elsewhere, 2)];
    const networksAfter = (events: Parameters<typeof foldEvents>[0]) =>
      claimOf(foldEvents(events), 'macvlan', '172.17.0.11')?.networks;
    expect(networksAfter(history)).to.deep.equal(['macvlan.default', 'other.default']);
    expect(networksAfter([...history, allocated('two', '172.17.0.11')])).to.deep.equal(['macvlan.default']);
  });
});

describe('networkOf', () => {
  for (const [provider, subnet, network] of [
    ['lan.default', 'lan', 'lan.default'],
    ['lan.default', 'overlay', 'lan.default'],
    ['ovn', 'overlay', 'switch/overlay'],
    ['nic.default.ovn', 'overlay', 'switch/overlay'],
    // A NetworkAttachmentDefinition in a namespace named ovn.
    ['lan.ovn', 'lan', 'lan.ovn'],
  ] as const)
    it(`networkOf returns ${network} for provider ${provider} and Subnet ${subnet}`, () => {
      expect(networkOf(provider, subnet)).to.equal(network);
    });
});
