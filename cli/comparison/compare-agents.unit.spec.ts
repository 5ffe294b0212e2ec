import { expect } from 'chai';
import { agentOn, describeDisagreements, web } from './testing/check-input.fixture.ts';

const noAdd = 'no CNI ADD succeeds there, and no CNI DEL arrives';

describe('The comparison of Nodes with node agents', () => {
  const nodes = ['node-1', 'node-2', 'node-3'];

  it('The comparison of Nodes with node agents finds nothing if each node whose Pods have addresses has a ready agent', () => {
    expect(describeDisagreements({ nodes, pods: [web, agentOn('node-1'), agentOn('node-2')] })).to.deep.equal([]);
  });

  it('The comparison of Nodes with node agents names the nodes without an agent, and with an agent that is not ready or is deleted', () => {
    const ending = { ...agentOn('node-3'), isTerminating: true };
    const pods = [web, agentOn('node-2', 'not ready'), ending];
    expect(describeDisagreements({ nodes, pods })).to.deep.equal([
      `no agent: Node node-2: its node agent is not ready: ${noAdd}; 0 Pods with addresses`,
      `no agent: Node node-3: its node agent is not ready: ${noAdd}; 0 Pods with addresses`,
      `no agent: Node node-1: it has no node agent: ${noAdd}; 1 Pod with addresses`,
    ]);
  });

  it('The comparison of Nodes with node agents states first that a Node is not ready', () => {
    const nodeFailures = new Map([['node-1', 'is NotReady since 2026-01-31T08:00:00Z']]);
    expect(describeDisagreements({ nodes, pods: [web, agentOn('node-1', 'not ready')], nodeFailures })).to.deep.equal([
      `no agent: Node node-1: the Node is NotReady since 2026-01-31T08:00:00Z; its node agent is not ready: ${noAdd}; 1 Pod with addresses`,
    ]);
  });

  it('The comparison of Nodes with node agents finds nothing for agents that do not run as Pods, and for the agent of a deleted Node', () => {
    expect(describeDisagreements({ nodes })).to.deep.equal([]);
    expect(
      describeDisagreements({ nodes, pods: [web, agentOn('node-1'), agentOn('gone', 'not ready')] }),
    ).to.deep.equal([]);
  });
});
