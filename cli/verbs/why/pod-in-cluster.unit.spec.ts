import { expect } from 'chai';
import { podWatcherLeasePath } from '../../../lib/kubernetes/lease-observer.ts';
import { CliError } from '../../cli-error.ts';
import { readPodInCluster, readReleaseHalt } from './pod-in-cluster.ts';

const event = (component: string, minute: number) => ({
  source: { component },
  lastTimestamp: `2026-11-17T14:${String(minute).padStart(2, '0')}:00Z`,
  reason: 'R',
  message: `${component} ${minute}`,
});

describe('ipledger why reads a Pod from the cluster', () => {
  const pod = { metadata: { uid: 'one' }, spec: { nodeName: 'node-1' }, status: { phase: 'Pending' } };
  const read = (events: readonly object[], node: () => Record<string, unknown> | undefined) =>
    readPodInCluster(
      {
        get: async (path) => (path.includes('/events') ? { items: events } : path.includes('/nodes/') ? node() : pod),
      },
      'default',
      'web',
    );

  it('ipledger why lists the Events of the pod-watcher first, newest first, for any number of newer Events of other programs', async () => {
    const others = Array.from({ length: 7 }, (_, minute) => event('kubelet', 10 + minute));
    const events = [event('ipledger-pod-watcher', 1), ...others, event('ipledger-pod-watcher', 2)];
    const found = await read(events, () => undefined);
    expect(found?.events.map(({ message }) => message)).to.deep.equal([
      'ipledger-pod-watcher 2',
      'ipledger-pod-watcher 1',
      ...[16, 15, 14, 13, 12].map((minute) => `kubelet ${minute}`),
    ]);
  });

  it('ipledger why states that the node of the Pod is not ready or is deleted, if it may read Nodes', async () => {
    const condition = (status: string) => ({
      status: { conditions: [{ type: 'Ready', status, lastTransitionTime: 'T' }] },
    });
    expect((await read([], () => condition('True')))?.nodeFailure).to.equal(undefined);
    expect((await read([], () => condition('Unknown')))?.nodeFailure).to.equal('is NotReady since T');
    expect((await read([], () => undefined))?.nodeFailure).to.equal('is deleted');
    const forbidden = await read([], () => {
      throw new CliError('unreachable', 'forbidden');
    });
    expect(forbidden?.nodeFailure).to.equal(undefined);
  });
});

describe('The halt of releases that `ipledger why` reports', () => {
  const readAt = (leaseNamespace: string, memory: object, namespace = 'noisy') =>
    readReleaseHalt(
      {
        get: (path) =>
          path === podWatcherLeasePath(leaseNamespace)
            ? Promise.resolve({ metadata: { annotations: { 'ipledger.io/memory': JSON.stringify(memory) } } })
            : Promise.reject(new CliError('refused', 'may not be read')),
      },
      namespace,
      'ipam',
    );

  it('The halt of releases that `ipledger why` reports names the missing Pods and the namespace of the Lease', async () => {
    for (const [place, memory] of [
      ['ipam', { haltedNamespaces: { noisy: 30 } }],
      ['kube-system', { vanishedPods: 30 }],
    ] as const)
      expect(await readAt(place, memory))
        .to.contain('because 30 Pods are missing')
        .and.to.match(new RegExp(`run: ipledger accept-mass-deletion --namespace ${place} --reason TEXT$`));
  });

  it('The halt of releases that `ipledger why` reports is absent for another namespace, and without a Lease that may be read', async () => {
    expect(await readAt('kube-system', { haltedNamespaces: { noisy: 30 } }, 'quiet')).to.equal(undefined);
    expect(await readAt('kube-system', {})).to.equal(undefined);
    expect(await readAt('elsewhere', { vanishedPods: 30 })).to.equal(undefined);
  });
});
