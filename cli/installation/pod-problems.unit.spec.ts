import { expect } from 'chai';
import { findPodProblems } from './pod-problems.ts';
import { containerOf, podOf } from './testing/pods.fixture.ts';

const now = Date.parse('2026-01-31T08:00:00Z');
const find = (...pods: ReturnType<typeof podOf>[]) => findPodProblems(pods, now);
const lines = (...pods: ReturnType<typeof podOf>[]): string[] =>
  find(...pods).map(({ name, container, reason, message }) => `${name} ${container || '-'} ${reason}: ${message}`);

describe('Problems of Pods', () => {
  it('Problems of Pods are none for a Pod that is ready, has completed, starts, or is being deleted', () => {
    expect(
      lines(
        podOf({ isReady: true }),
        podOf({ phase: 'Succeeded' }),
        podOf({ deletedAt: '2026-01-31T07:59:50Z', containers: [containerOf({ waiting: 'ContainerCreating' })] }),
      ),
    ).to.deep.equal([]);
    const [starting] = find(podOf({ containers: [containerOf({ waiting: 'ContainerCreating' })] }));
    expect(starting).to.include({ reason: 'NotReady', container: '' });
  });

  it('Problems of Pods are the reason and the message of a container that waits, with the end of the one before', () => {
    const ended = { reason: 'Error', exitCode: 1, message: 'a\n{"msg":"etcd does not answer"}\n', finishedAt: '' };
    const crashing = containerOf({ waiting: 'CrashLoopBackOff', message: 'back-off 5m0s', restarts: 7, last: ended });
    expect(lines(podOf({ containers: [crashing] }))).to.deep.equal([
      'allocator-0 allocator CrashLoopBackOff: back-off 5m0s; it ended by Error, exit code 1: a; {"msg":"etcd does not answer"}',
    ]);
    const pulling = containerOf({ waiting: 'ImagePullBackOff', message: 'Back-off pulling image "r/x:1"' });
    expect(lines(podOf({ containers: [pulling] }))).to.deep.equal([
      'allocator-0 allocator ImagePullBackOff: Back-off pulling image "r/x:1"',
    ]);
  });

  it('Problems of Pods are those of an init container first, which has failed or does not end', () => {
    const main = containerOf({ waiting: 'PodInitializing' });
    const ended = { reason: 'Error', exitCode: 3, message: 'no member', finishedAt: '' };
    const failed = containerOf({ name: 'check-member', ended });
    expect(lines(podOf({ init: [failed], containers: [main] }))).to.deep.equal([
      'allocator-0 check-member Error: exit code 3: no member',
    ]);
    const running = containerOf({ name: 'check-member' });
    expect(lines(podOf({ init: [running], containers: [main] }))).to.deep.equal([
      'allocator-0 check-member NotReady: this init container has not ended',
    ]);
  });

  it('Problems of Pods are that a Pod is on no node, and the claims that it needs', () => {
    const message = '0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.';
    const [found] = find(podOf({ phase: 'Pending', unschedulable: message, claims: ['data-0'] }));
    expect(found).to.include({ reason: 'Unschedulable', message, node: '' });
    expect(found?.claims).to.deep.equal(['data-0']);
  });

  it('Problems of Pods are a container that was out of memory in the last day, also of a Pod that is ready again', () => {
    const killed = (finishedAt: string) =>
      containerOf({ restarts: 1, last: { reason: 'OOMKilled', exitCode: 137, message: '', finishedAt } });
    expect(lines(podOf({ isReady: true, containers: [killed('2026-01-31T02:00:00Z')] }))).to.deep.equal([
      'allocator-0 allocator OOMKilled: exit code 137, at 2026-01-31T02:00:00Z',
    ]);
    expect(lines(podOf({ isReady: true, containers: [killed('2026-01-29T02:00:00Z')] }))).to.deep.equal([]);
  });

  it('Problems of Pods are a Pod that was evicted, or a Job that failed, until a newer Pod does its work', () => {
    const evicted = podOf({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on memory.' });
    expect(lines(evicted)).to.deep.equal(['allocator-0 - Evicted: The node was low on memory.']);
    const newer = { name: 'allocator-1', createdAt: '2026-01-31T07:59:00Z' };
    expect(lines(evicted, podOf({ ...newer, isReady: true }))).to.deep.equal([]);
    expect(lines(evicted, podOf({ ...newer, phase: 'Failed', reason: 'Evicted' }))).to.deep.equal([
      'allocator-1 - Evicted: ',
    ]);
  });
});
