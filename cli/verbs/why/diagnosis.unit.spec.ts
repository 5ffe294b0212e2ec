import { expect } from 'chai';
import type { PodHistory } from './pod-history.ts';
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

describe('The diagnosis of a Pod whose requests are refused', () => {
  const attachment = { namespace: 'default', pod: 'db', provider: 'lan.default', ordinal: 0 };
  const refusal = {
    seq: 7,
    at: '2026-11-17T14:05:00.900Z',
    attachment,
    reason: 'SUBNET_FULL',
    message: 'Full: 1 in use',
  };
  const history: PodHistory = { uid: 'one', owner: undefined, events: [], allocationPeriods: [], refusals: [refusal] };
  const diagnose = (...events: PodInCluster['events']): string[] => diagnosePod({ history, pod: { ...pod, events } });
  const event = (at: string, message: string, from = 'ipledger-pod-watcher') => ({
    at,
    from,
    reason: 'Reason',
    message,
  });
  const recorded = ['it waits for an address of lan.default: Full: 1 in use'];

  it('is the Event of the pod-watcher that is not older than the refusal, as the ledger records each reason once', () => {
    const older = event('2026-11-17T14:05:00Z', 'stage=acquireAddress provider=lan.default error=Full: 1 in use; wait');
    const newer = event('2026-11-17T14:06:00Z', 'stage=acquireAddress provider=lan.default error=Full: 0 in use; wait');
    expect(diagnose(older)).to.deep.equal(['it waits for an address of lan.default: Full: 1 in use; wait']);
    expect(diagnose(older, newer)).to.deep.equal(['it waits for an address of lan.default: Full: 0 in use; wait']);
  });

  it('names all networks of a request that was refused as a whole, and those of the ledger if the Event names none', () => {
    const at = '2026-11-17T14:06:00Z';
    expect(diagnose(event(at, 'stage=acquireAddress provider=lan.default,wan.default error=Full'))).to.deep.equal([
      'it waits for an address of lan.default and wan.default: Full',
    ]);
    expect(diagnose(event(at, 'stage=acquireAddress error=the networks change too often'))).to.deep.equal([
      'it waits for an address of lan.default: the networks change too often',
    ]);
  });

  it('is the refusal in the ledger without such an Event', () => {
    const message = 'stage=acquireAddress provider=lan.default error=Full: 0 in use';
    expect(diagnose()).to.deep.equal(recorded);
    expect(diagnose(event('2026-11-17T14:04:59Z', message))).to.deep.equal(recorded);
    expect(diagnose(event('2026-11-17T14:06:00Z', message, 'kubelet'))).to.deep.equal(recorded);
    expect(diagnose(event('2026-11-17T14:06:00Z', 'default/wan: the link gets another MAC'))).to.deep.equal(recorded);
    expect(diagnosePod({ history, pod: undefined })).to.deep.equal(recorded);
  });

  it('is the last such Event for a Pod that lost its address, and whose next request was not sent', () => {
    const lost = { ...history, refusals: [] };
    const events = [event('2026-11-17T14:04:00Z', 'stage=acquireAddress error=the networks change too often')];
    expect(diagnosePod({ history: lost, pod: { ...pod, events } })).to.deep.equal([
      'it has no address. The pod-watcher reported at 2026-11-17T14:04:00Z: the networks change too often',
    ]);
    const never = ['it never had an address, and requests none'];
    expect(diagnosePod({ history: lost, pod })).to.deep.equal(never);
    expect(diagnosePod({ history: lost, pod: { ...pod, events, deletedAt: '2026-11-17T14:06:00Z' } })).to.deep.equal(
      never,
    );
  });
});
