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
   * Returns whether the second NIC may share the address of the first one.
   * @param living the uids of the Pods that live
   */
  function mayShare(first: Nic, second: Nic, living: readonly string[] = []): boolean {
    const world = new World(1);
    const nics = new NicsInUse(world, ({ uid }) => living.includes(uid));
    for (const nic of [first, second]) nics.add(nic);
    return world.violation === undefined;
  }

  it('An address on the simulated network is not shared by Pods of two names, nor by the containers of a Pod', () => {
    expect(mayShare(nicOf('one'), nicOf('two', { pod: 'default/b' }))).to.equal(false);
    expect(mayShare(nicOf('one'), nicOf('one', { containerId: 'second' }))).to.equal(false);
    expect(mayShare(nicOf('one'), nicOf('one', { node: 'node-1' }))).to.equal(false);
  });

  it('An address on the simulated network is shared by a Pod that was deleted by force and the next one of its name, on one node', () => {
    expect(mayShare(nicOf('one'), nicOf('two'), ['two'])).to.equal(true);
    expect(mayShare(nicOf('one'), nicOf('two'), ['one', 'two'])).to.equal(false);
    expect(mayShare(nicOf('one'), nicOf('two', { node: 'node-1' }), ['two'])).to.equal(false);
  });

  it('An address on the simulated network is shared by a Pod that was deleted by force and whose ADD ends after that of the next one of its name', () => {
    expect(mayShare(nicOf('next'), nicOf('deleted'), ['next'])).to.equal(true);
    expect(mayShare(nicOf('next'), nicOf('deleted', { node: 'node-1' }), ['next'])).to.equal(false);
  });

  it('An address on the simulated network is shared by two launchers of one machine', () => {
    const [source, target] = [nicOf('one', { isMachine: true }), nicOf('one', { isMachine: true, node: 'node-1' })];
    expect(mayShare(source, target, ['one'])).to.equal(true);
  });
});
