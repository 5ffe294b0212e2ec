import { expect } from 'chai';
import { parseNodeLinks } from './node-links.ts';

describe('The links of a node', () => {
  it('The links of a node have their addresses except link-local ones, their master and the link below them', () => {
    const output = [
      {
        ifname: 'eth1',
        flags: ['BROADCAST', 'UP', 'LOWER_UP'],
        addr_info: [
          { family: 'inet6', local: 'fe80::1', scope: 'link' },
          { family: 'inet', local: '10.1.0.2', scope: 'global' },
        ],
      },
      { ifname: 'eth2', flags: ['BROADCAST'], master: 'bond0', addr_info: [] },
      { ifname: 'eth1.10', link: 'eth1', flags: ['UP'] },
    ];
    expect(parseNodeLinks(JSON.stringify(output))).to.deep.equal([
      { name: 'eth1', addresses: ['10.1.0.2'], master: '', parent: '', isUp: true },
      { name: 'eth2', addresses: [], master: 'bond0', parent: '', isUp: false },
      { name: 'eth1.10', addresses: [], master: '', parent: 'eth1', isUp: true },
    ]);
  });
});
