import { expect } from 'chai';
import type { UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import { healthyFacts } from '../../installation/testing/facts.fixture.ts';
import { containerOf, podOf } from '../../installation/testing/pods.fixture.ts';
import { collect } from './collect.ts';

/** The files of a bundle of a cluster with these Pods and Events, and the logs that were read. */
async function collectFrom({
  pods,
  events = [],
}: {
  readonly pods: readonly UntypedJson[];
  readonly events?: UntypedJson[];
}) {
  const logs: string[] = [];
  const { files, problems } = await collect({
    facts: healthyFacts,
    allocator: {
      call: () => Promise.reject(new Error('it is down')),
      stream: () => {
        throw new Error('it is down');
      },
    },
    connectKubernetes: () =>
      Promise.resolve({
        list: (path) => {
          if (path.startsWith('/api/v1/namespaces/ipledger-system/pods?')) return Promise.resolve([...pods]);
          return Promise.resolve(path === '/api/v1/namespaces/ipledger-system/events' ? events : []);
        },
        readText: (path) => {
          const [, pod = '', query = ''] = /\/pods\/(.+)\/log\?(.+)$/.exec(path) ?? [];
          const parameters = new URLSearchParams(query);
          logs.push(`${pod} ${parameters.get('container')}${parameters.has('previous') ? ' previous' : ''}`);
          return Promise.resolve(`log of ${pod}`);
        },
      }),
    logLines: 100,
    ledgerEvents: 0,
    signal: new AbortController().signal,
  });
  const find = (path: string) => files.find((each) => each.path === path)?.content;
  return { paths: files.map(({ path }) => path), find, problems: problems.map(({ part }) => part), logs };
}

describe('The parts of a support bundle', () => {
  it('The parts of a support bundle have the status of each Pod of ipledger, and all Events of its namespace', async () => {
    const message = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.';
    const pending = podOf({ name: 'ipledger-etcd-0', component: 'etcd', phase: 'Pending', unschedulable: message });
    const normal = {
      involvedObject: { kind: 'PersistentVolumeClaim', name: 'data-ipledger-etcd-0' },
      type: 'Normal',
      reason: 'WaitForFirstConsumer',
      message: 'waiting for first consumer',
      count: 7,
      lastTimestamp: '2026-01-31T07:00:00Z',
    };
    const { find } = await collectFrom({ pods: [pending], events: [normal] });
    const [pod] = find('kubernetes/own-pods.json') as UntypedJson[];
    expect(pod).to.deep.include({ name: 'ipledger-etcd-0', component: 'etcd', phase: 'Pending' });
    expect(JSON.stringify(pod)).to.contain(message);
    expect(find('kubernetes/own-events.json')).to.deep.equal([
      {
        kind: 'PersistentVolumeClaim',
        name: 'data-ipledger-etcd-0',
        type: 'Normal',
        reason: 'WaitForFirstConsumer',
        message: 'waiting for first consumer',
        count: 7,
        at: '2026-01-31T07:00:00Z',
      },
    ]);
  });

  it('The parts of a support bundle have no environment of a container, which can be a secret', async () => {
    const pod = podOf({});
    const env = [{ name: 'KEY', value: 'hunter2' }];
    const spied = { ...pod, spec: { ...pod.spec, containers: [{ name: 'allocator', env, args: ['hunter2'] }] } };
    const { find } = await collectFrom({ pods: [spied] });
    expect(JSON.stringify(find('kubernetes/own-pods.json'))).to.not.contain('hunter2');
  });

  it('The parts of a support bundle have the logs of etcd, of init containers and of containers that ended before, and not of those that never ran', async () => {
    const ended = { reason: 'Error', exitCode: 1, message: '', finishedAt: '' };
    const etcd = podOf({
      name: 'ipledger-etcd-0',
      component: 'etcd',
      init: [containerOf({ name: 'check-member', ended })],
      containers: [containerOf({ name: 'etcd', waiting: 'PodInitializing' })],
    });
    const crashing = podOf({ containers: [containerOf({ waiting: 'CrashLoopBackOff', restarts: 3, last: ended })] });
    const { logs, paths, problems } = await collectFrom({ pods: [etcd, crashing] });
    expect(logs.toSorted()).to.deep.equal([
      'allocator-0 allocator',
      'allocator-0 allocator previous',
      'ipledger-etcd-0 check-member',
    ]);
    expect(paths).to.include.members([
      'logs/allocator/allocator-0.log',
      'logs/allocator/allocator-0.previous.log',
      'logs/etcd/ipledger-etcd-0.check-member.log',
    ]);
    expect(problems.filter((part) => part.startsWith('logs/'))).to.deep.equal([]);
  });

  it('The parts of a support bundle have the logs of at most 20 Pods of a program, those that are not ready first', async () => {
    const pods = Array.from({ length: 300 }, (_, index) => podOf({ name: `a-${index}`, isReady: index !== 299 }));
    const { logs } = await collectFrom({ pods });
    expect(logs).to.have.length(20);
    expect(logs).to.include('a-299 allocator');
  });
});
