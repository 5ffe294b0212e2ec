import { expect } from 'chai';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import type { AllocationPeriod } from '../../allocation-periods/allocation-periods.ts';
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

  it('The diagnosis of a Pod without events in the ledger is the newest Event of the pod-watcher that names the cause', () => {
    const events = [
      event('ipledger-pod-watcher', 'default/other is not served'),
      event(
        'ipledger-pod-watcher',
        'stage=getPodKubeovnNets error=provider wan.default is not bound to any subnet: create a Subnet',
      ),
      event(
        'ipledger-pod-watcher',
        'stage=getPodKubeovnNets error=there is no NetworkAttachmentDefinition default/wan',
      ),
      event('kubelet', 'failed to set up the sandbox'),
    ];
    expect(diagnose(events)).to.deep.equal([
      'the pod-watcher requested no address for it: provider wan.default is not bound to any subnet: create a Subnet',
    ]);
  });

  it('The diagnosis of a Pod without events in the ledger names the things to check if the pod-watcher has sent no Event', () => {
    expect(diagnose([event('kubelet', 'failed')])).to.deep.equal([
      'the allocator got no request for it yet (uid one): check that pod-watcher is ready, and that ipam.type of default/wan is kube-ovn',
    ]);
  });
});

describe('The diagnosis of a deleted Pod', () => {
  it('The diagnosis of a deleted Pod names the halt of releases in its namespace', () => {
    const grant = { seq: 7, at: '', addresses: ['10.0.0.2'], bindings: [], until: '' };
    const history = { uid: 'one', owner: undefined, events: [], refusals: [], allocationPeriods: [grant] };
    const diagnose = (halt?: string): string[] =>
      diagnosePod({ history: history as unknown as PodHistory, pod: null, halt });
    expect(diagnose('releases are halted: run X')).to.deep.equal([
      'the Pod is not in the cluster, and keeps 10.0.0.2: releases are halted: run X',
    ]);
    expect(diagnose()[0]).to.contain('10.0.0.2 will be released');
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

  it('The diagnosis of a Pod whose requests are refused is the Event of the pod-watcher that is not older than the refusal, as the ledger records each reason once', () => {
    const older = event('2026-11-17T14:05:00Z', 'stage=acquireAddress provider=lan.default error=Full: 1 in use; wait');
    const newer = event('2026-11-17T14:06:00Z', 'stage=acquireAddress provider=lan.default error=Full: 0 in use; wait');
    expect(diagnose(older)).to.deep.equal(['it waits for an address of lan.default: Full: 1 in use; wait']);
    expect(diagnose(newer, older)).to.deep.equal(['it waits for an address of lan.default: Full: 0 in use; wait']);
  });

  it('The diagnosis of a Pod whose requests are refused names all networks of a refused request, from the ledger if the Event names none', () => {
    const at = '2026-11-17T14:06:00Z';
    expect(diagnose(event(at, 'stage=acquireAddress provider=lan.default,wan.default error=Full'))).to.deep.equal([
      'it waits for an address of lan.default and wan.default: Full',
    ]);
    expect(diagnose(event(at, 'stage=acquireAddress error=the networks change too often'))).to.deep.equal([
      'it waits for an address of lan.default: the networks change too often',
    ]);
  });

  it('The diagnosis of a Pod whose requests are refused is the refusal in the ledger without such an Event', () => {
    const message = 'stage=acquireAddress provider=lan.default error=Full: 0 in use';
    expect(diagnose()).to.deep.equal(recorded);
    expect(diagnose(event('2026-11-17T14:04:59Z', message))).to.deep.equal(recorded);
    expect(diagnose(event('2026-11-17T14:06:00Z', message, 'kubelet'))).to.deep.equal(recorded);
    expect(diagnose(event('2026-11-17T14:06:00Z', 'default/wan: the link gets another MAC'))).to.deep.equal(recorded);
    expect(diagnosePod({ history, pod: undefined })).to.deep.equal(recorded);
  });

  it('The diagnosis of a Pod whose requests are refused is the last Event of the pod-watcher for a Pod that lost its address and has sent no other request', () => {
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

describe('The diagnosis of an address that an earlier container may use', () => {
  const attachment = { namespace: 'default', pod: 'db-0', provider: 'lan.default', ordinal: 0 };
  const lost =
    'Start node-9. If it is powered off for good, run: kubectl delete node node-9, or: kubectl taint node node-9 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute';
  const ends = `the CNI DEL of that container, a reboot of node-9, or a binding timeout of the Subnet ends that. ${lost}`;
  const bound = {
    containerId: 'c0ffeec0ffee77',
    interface: 'net1',
    node: 'node-9',
    bootId: 'b',
    from: '2026-11-17T14:00:00Z',
    until: '',
    unbindCause: 'UNBIND_CAUSE_UNSPECIFIED' as const,
  };
  const period: AllocationPeriod = {
    subnet: 'lan',
    addresses: ['10.0.0.2'],
    attachment,
    podUid: 'one',
    owner: undefined,
    node: 'node-1',
    mac: '',
    from: '2026-11-17T14:05:00Z',
    until: '',
    release: undefined,
    bindings: [],
    grant: { seq: 9, cause: 'ALLOCATION_CAUSE_DYNAMIC', actor: 'w', fromUid: 'zero' },
  };
  const history: PodHistory = { uid: 'one', owner: undefined, events: [], allocationPeriods: [period], refusals: [] };
  const allocationWith = (node: string): Allocation => ({
    seq: 9,
    attachment,
    podUid: 'one',
    node: 'node-1',
    subnet: 'lan',
    addresses: [],
    mac: '',
    interface: '',
    cause: 'ALLOCATION_CAUSE_DYNAMIC',
    routes: [],
    at: '',
    network: '',
    bindings: [{ containerId: bound.containerId, interface: 'net1', node, bootId: 'b', at: bound.from }],
  });

  it('The diagnosis of an address that an earlier container may use names container, node, time and remedies for a member whose predecessor ran on a node that is lost', () => {
    expect(diagnosePod({ history, pod, allocations: [allocationWith('node-9')] })).to.deep.equal([
      `it has 10.0.0.2 of subnet lan, and cannot start on node node-1: an earlier Pod of this name may still answer on it (container c0ffeec0ffee on node node-9, bound since 2026-11-17T14:00:00Z); ${ends}`,
    ]);
    // The history of an address passes an open binding on to the next Pod
    const passedOn = { ...history, allocationPeriods: [{ ...period, bindings: [bound] }] };
    expect(diagnosePod({ history: passedOn, pod })).to.deep.equal(
      diagnosePod({ history, pod, allocations: [allocationWith('node-9')] }),
    );
    const machine = { kind: 'VirtualMachineInstance', name: 'db-0', uid: 'u' };
    const migrating = { ...history, allocationPeriods: [{ ...period, owner: machine, bindings: [bound] }] };
    expect(diagnosePod({ history: migrating, pod })).to.deep.equal([
      'it has 10.0.0.2 of subnet lan, and container c0ffeec0ffee on node node-9 uses it',
    ]);
    const [own] = diagnosePod({ history, pod, allocations: [allocationWith('node-1')] });
    expect(own).to.contain('no CNI ADD of lan.default has succeeded on node node-1');
    const [unready] = diagnosePod({ history, pod: { ...pod, nodeFailure: 'is NotReady since T' } });
    expect(unready).to.match(
      /^it has 10\.0\.0\.2 .*, and its node node-1 is NotReady since T, so no kubelet starts it\. /,
    );
  });

  it('The diagnosis of an address that an earlier container may use states first that the deletion of a Pod waits for a lost node, so that its successor does not start', () => {
    const ending = { ...pod, node: 'node-9', deletedAt: '2026-11-17T14:10:00Z', nodeFailure: 'is NotReady since T' };
    const held = { ...history, allocationPeriods: [{ ...period, bindings: [bound] }] };
    expect(diagnosePod({ history: held, pod: ending })).to.deep.equal([
      `it is being deleted since 2026-11-17T14:10:00Z, and its node node-9 is NotReady since T, so no kubelet ends it and no next Pod of the name starts. ${lost}`,
      'it has 10.0.0.2 of subnet lan, and container c0ffeec0ffee on node node-9 uses it',
    ]);
    const [first, unbound] = diagnosePod({ history, pod: ending });
    expect(first).to.match(/^it is being deleted since .* no next Pod of the name starts\. /);
    expect(unbound).to.match(/^it has .*, and no CNI ADD of lan\.default has succeeded on node node-9\. /);
    expect(diagnosePod({ history: held, pod: { ...ending, nodeFailure: undefined } })).to.have.length(1);
  });

  it('The diagnosis of an address that an earlier container may use names container, node, time and remedies for the address of a deleted Pod', () => {
    const release = { seq: 12, actor: 'w', cause: 'RELEASE_CAUSE_POD_DELETED' as const, evidence: '', toUid: '' };
    const released = { ...period, until: '2026-11-17T14:10:00Z', release, bindings: [bound] };
    expect(diagnosePod({ history: { ...history, allocationPeriods: [released] }, pod: null })).to.deep.equal([
      'default/db-0 has no address any more',
      `its address is held: the ledger has no CNI DEL of container c0ffeec0ffee on node node-9, bound since 2026-11-17T14:00:00Z; ${ends}`,
    ]);
  });

  it('The diagnosis of an address that an earlier container may use names the newest refusal first', () => {
    const refusal = { seq: 3, at: '', attachment, reason: 'X', message: 'old' };
    const refusals = [refusal, { ...refusal, seq: 8, message: 'new' }];
    expect(diagnosePod({ history: { ...history, allocationPeriods: [], refusals }, pod: undefined })).to.deep.equal([
      'it waits for an address of lan.default: new',
      'it waits for an address of lan.default: old',
    ]);
  });
});
