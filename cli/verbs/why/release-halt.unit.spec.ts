import { expect } from 'chai';
import { podWatcherLeasePath } from '../../../lib/kubernetes/pod-watcher-lease.ts';
import { CliError } from '../../program/cli-error.ts';
import { readReleaseHalt } from './release-halt.ts';

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

  it('names the missing Pods and the namespace of the Lease', async () => {
    for (const [place, memory] of [
      ['ipam', { haltedNamespaces: { noisy: 30 } }],
      ['kube-system', { vanishedPods: 30 }],
    ] as const)
      expect(await readAt(place, memory))
        .to.contain('because 30 Pods are missing')
        .and.to.match(new RegExp(`run: ipledger accept-mass-deletion --namespace ${place} --reason TEXT$`));
  });

  it('is absent for another namespace, and without a Lease that may be read', async () => {
    expect(await readAt('kube-system', { haltedNamespaces: { noisy: 30 } }, 'quiet')).to.equal(undefined);
    expect(await readAt('kube-system', {})).to.equal(undefined);
    expect(await readAt('elsewhere', { vanishedPods: 30 })).to.equal(undefined);
  });
});
