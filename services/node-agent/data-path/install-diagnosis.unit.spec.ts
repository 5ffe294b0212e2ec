import { expect } from 'chai';
import { maxErrorBytes } from '../daemon/cni-error.ts';
import { diagnoseInstall, type InstallFacts } from './install-wait.ts';
import type { SouthboundFacts } from './southbound.ts';

const southbound: SouthboundFacts = { hasPort: true, requestedChassis: 'node-a', chassis: '', ownChassis: 'node-a' };
const facts: InstallFacts = {
  node: 'node-a',
  logicalPort: 'p.default.lan.default.ovn',
  hostLink: 'c1_net1_h',
  interfaceError: '',
  isInstalled: false,
  missingPatch: undefined,
  southbound,
};

const cases: readonly [title: string, changes: Partial<InstallFacts>, expected: string][] = [
  [
    'an error of the OVS interface',
    { interfaceError: 'could not open network device' },
    'OVS cannot use c1_net1_h: could',
  ],
  [
    'a physical network without bridge',
    { isInstalled: true, missingPatch: 'patch-localnet.lan-to-br-int' },
    'patch-localnet.lan-to-br-int is missing',
  ],
  [
    'a southbound database that cannot be read',
    { southbound: { unreadable: 'ssl: only' } },
    'could not be read (ssl: only)',
  ],
  [
    'a node without chassis',
    { southbound: { ...southbound, ownChassis: undefined } },
    'no chassis row for node node-a',
  ],
  ['no logical port', { southbound: { ...southbound, hasPort: false } }, 'no logical port p.default.lan.default.ovn'],
  [
    'the chassis of another node',
    { southbound: { ...southbound, requestedChassis: 'node-b,node-c' } },
    'requested-chassis is node-b,node-c, not node-a',
  ],
  ['a claim without flows', { southbound: { ...southbound, chassis: 'node-a' } }, 'has claimed the port'],
  ['an ovn-controller that does not work', {}, 'has not claimed the port'],
];

describe('The diagnosis of a port that OVN does not connect', () => {
  for (const [title, changes, expected] of cases)
    it(`The diagnosis of a port that OVN does not connect names ${title}, with a command`, () => {
      const message = diagnoseInstall({ ...facts, ...changes });
      expect(message)
        .to.contain(expected)
        .and.match(/ Run: (ovs-vsctl|ovn-appctl|ovn-nbctl|kubectl) /);
      expect(Buffer.byteLength(message)).to.be.below(maxErrorBytes);
    });

  it('The diagnosis accepts a chassis with the node’s hostname or chassis name, also beside another chassis', () => {
    for (const requestedChassis of ['', 'node-a', 'chassis-a', 'node-b,node-a'])
      expect(
        diagnoseInstall({ ...facts, southbound: { ...southbound, requestedChassis, ownChassis: 'chassis-a' } }),
      ).to.contain('has not claimed the port');
  });
});
