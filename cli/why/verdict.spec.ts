import { expect } from 'chai';
import type { PodInCluster } from './cluster.ts';
import { verdict } from './verdict.ts';

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

describe('What a Pod waits for of which the ledger has not heard', () => {
  const told = (events: PodInCluster['events']): string[] => verdict({ life: undefined, pod: { ...pod, events } });
  const event = (from: string, message: string) => ({ at: '2026-11-17T14:05:00Z', from, reason: 'Reason', message });

  it('is what the pod-watcher last said of it', () => {
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
    expect(told(events)).to.deep.equal([
      'the ledger was not asked for it: provider wan.default is not bound to any subnet: create a Subnet',
    ]);
  });

  it('is asked of the person, where the pod-watcher said nothing', () => {
    expect(told([event('kubelet', 'failed')])).to.deep.equal([
      'nobody has asked the ledger for it yet (uid one): is pod-watcher running and ready, and is ipam.type of default/wan kube-ovn?',
    ]);
  });
});
