import { expect } from 'chai';
import { World } from '../kernel/world.ts';
import { type Nic, NicsInUse } from './nics-in-use.ts';

const nicOf = (uid: string, parts: Partial<Nic> = {}): Nic => ({
  node: 'node-0',
  containerId: `container of ${uid}`,
  interface: 'net1',
  pod: 'default/a',
  uid,
  isMachine: false,
  provider: 'lan.default',
  addresses: ['10.0.0.2'],
  mac: '',
  ...parts,
});

describe('An address on the simulated network', () => {
  /**
   * Returns whether the second NIC may share the address of the first one, whose Pod lives or is
   * gone.
   */
  function mayShare(first: Nic, second: Nic, isLiving = false): boolean {
    const world = new World(1);
    const nics = new NicsInUse(world, ({ uid }) => isLiving && uid === first.uid);
    for (const nic of [first, second]) nics.add(nic);
    return world.violation === undefined;
  }

  it('is not shared by Pods of two names, nor by the containers of a Pod', () => {
    expect(mayShare(nicOf('one'), nicOf('two', { pod: 'default/b' }))).to.equal(false);
    expect(mayShare(nicOf('one'), nicOf('one', { containerId: 'second' }))).to.equal(false);
    expect(mayShare(nicOf('one'), nicOf('one', { node: 'node-1' }))).to.equal(false);
  });

  it('is shared by a Pod that was deleted by force and the next one of its name, on one node', () => {
    expect(mayShare(nicOf('one'), nicOf('two'))).to.equal(true);
    expect(mayShare(nicOf('one'), nicOf('two'), true)).to.equal(false);
    expect(mayShare(nicOf('one'), nicOf('two', { node: 'node-1' }))).to.equal(false);
  });

  it('is shared by two launchers of one machine', () => {
    const [source, target] = [nicOf('one', { isMachine: true }), nicOf('one', { isMachine: true, node: 'node-1' })];
    expect(mayShare(source, target, true)).to.equal(true);
  });
});
