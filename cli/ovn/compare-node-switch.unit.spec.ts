import { expect } from 'chai';
import { compareNodeSwitch, type NodeSwitch } from './node-switch.ts';
import { allocation, nodeInterface, nodeSwitchWith, portName, sandboxBinding } from './testing/ovn-rows.fixture.ts';

const compare = (nodeSwitch: NodeSwitch, bindings = [sandboxBinding], allocations = [allocation]) =>
  compareNodeSwitch({ allocations, bindings }, nodeSwitch);

describe('The switch of a node', () => {
  it('The switch of a node agrees with the ledger if each container with a binding has its port', () => {
    expect(compare(nodeSwitchWith(nodeInterface))).to.deep.equal([]);
  });

  it('The switch of a node lacks the port of a container with a binding', () => {
    expect(compare(nodeSwitchWith())).to.deep.equal([
      {
        kind: 'OVS port missing',
        where: `port ${portName}`,
        what: 'container c0ffeec0ffee of Pod default/web has a binding on node node-1, and no port',
        remedy:
          'kubectl describe pod -n default web  # only a new sandbox gets a port: create the Pod again when that is possible',
      },
    ]);
  });

  it('The switch of a node has a port too many if its container has no binding, also if another container of the Pod has a binding', () => {
    const earlier = { ...nodeInterface, name: 'deadbeef_net1_h', containerId: 'deadbeefdeadbeef' };
    expect(compare(nodeSwitchWith(nodeInterface, earlier))).to.deep.equal([
      {
        kind: 'OVS port without binding',
        where: `port ${portName}`,
        what: 'interface deadbeef_net1_h is of container deadbeefdead of Pod default/web, which has no binding',
        remedy:
          'ovs-vsctl list Interface deadbeef_net1_h  # on the node; if `crictl pods` shows that the container is gone, remove the port',
      },
    ]);
  });

  it('The switch of a node is compared with the bindings of its node and of OVN networks only', () => {
    const { attachment, binding } = sandboxBinding;
    if (!attachment || !binding) throw new Error('the fixture has no binding');
    const elsewhere = { ...sandboxBinding, binding: { ...binding, node: 'node-2' } };
    const macvlan = { ...sandboxBinding, attachment: { ...attachment, provider: 'lan.default' } };
    expect(compare(nodeSwitchWith(), [elsewhere, macvlan])).to.deep.equal([]);
  });

  it('The switch of a node may keep or lack the port of a released address, until CNI DEL', () => {
    expect(compare(nodeSwitchWith(), [sandboxBinding], [])).to.deep.equal([]);
    expect(compare(nodeSwitchWith(nodeInterface), [sandboxBinding], [])).to.deep.equal([]);
  });
});
