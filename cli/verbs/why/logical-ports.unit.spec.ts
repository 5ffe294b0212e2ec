import { expect } from 'chai';
import { allocation, northboundWith, portName, portWith } from '../../ovn/testing/ovn-rows.fixture.ts';
import { describeLogicalPorts } from './why.ts';

describe('The report about logical ports', () => {
  const describePort = (...[port, held = allocation]: [Parameters<typeof portWith>[0], typeof allocation?]): string[] =>
    describeLogicalPorts([held], northboundWith(portWith(port)), 'ipam');

  it('The report about logical ports names the node on which a port is up', () => {
    expect(describePort({})).to.deep.equal([`port ${portName} is up on node-1`]);
  });

  it('The report about logical ports names the commands for a port that no node has connected', () => {
    const [sentence] = describePort({ isUp: false });
    expect(sentence)
      .to.contain('is not up, although a container has it: check ovn-controller on node-1')
      .and.contain(`ovs-vsctl find interface external_ids:iface-id=${portName}`);
    const [waiting] = describePort({ isUp: false }, { ...allocation, bindings: [] });
    expect(waiting).to.contain('because no container has it yet').and.contain('the log of node-agent on node-1');
  });

  it('The report about logical ports has each difference with its command', () => {
    const sentences = describeLogicalPorts([allocation], northboundWith(), 'ipam');
    expect(sentences).to.have.lengthOf(1);
    expect(sentences[0]).to.match(/^OVN port missing: .* Run: kubectl rollout restart -n ipam /);
    expect(describePort({ addresses: [] })).to.have.lengthOf(2);
  });

  it('The report about logical ports is empty for a Pod without a NIC of OVN', () => {
    const macvlan = { namespace: 'default', pod: 'web', provider: 'lan.default', ordinal: 0 };
    expect(describePort({}, { ...allocation, attachment: macvlan })).to.deep.equal([]);
  });
});
