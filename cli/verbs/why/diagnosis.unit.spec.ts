import { expect } from 'chai';
import type { PodInCluster } from './pod-in-cluster.ts';
import { diagnosePod } from './diagnosis.ts';

const pod: PodInCluster = {
  uid: 'one',
  node: 'node-1',
  phase: 'Pending',
  createdAt: '2026-11-17T14:05:00Z',
  deletedAt: '',
  networks: 'default/wan',
  waiting: [],
  events: [],
};

describe('The diagnosis of a Pod without events in the ledger', () => {
  const diagnose = (events: PodInCluster['events']): string[] =>
    diagnosePod({ history: undefined, pod: { ...pod, events } });
  const event = (from: string, message: string) => ({ at: '2026-11-17T14:05:00Z', from, reason: 'Reason', message });

  it('is the last Event of the pod-watcher', () => {
    const events = [
      event(
        'ipledger-pod-watcher',
        'stage=getPodKubeovnNets error=there is no NetworkAttachmentDefinition default/wan',
      ),
      event(
        'ipledger-pod-watcher',
        'stage=getPodKubeovnNets error=provider wan.default is not bound to any subnet: create a Subnet',
      ),
      event('kubelet', 'failed to set up the sandbox'),
    ];
    expect(diagnose(events)).to.deep.equal([
      'the pod-watcher requested no address for it: provider wan.default is not bound to any subnet: create a Subnet',
    ]);
  });

  it('names what to check without an Event of the pod-watcher', () => {
    expect(diagnose([event('kubelet', 'failed')])).to.deep.equal([
      'the allocator got no request for it yet (uid one): check that pod-watcher is ready, and that ipam.type of default/wan is kube-ovn',
    ]);
  });
});
