import { expect } from 'chai';
import type { Facts } from '../../installation/facts.ts';
import { healthyFacts } from '../../installation/testing/facts.fixture.ts';
import { createDiagnosis, formatDiagnosis, summarize, waitUntilHealthy } from './doctor.ts';

const { status: _status, ...withoutStatus } = healthyFacts;
const { workloads: _workloads, ...withoutWorkloads } = healthyFacts;

describe('A diagnosis', () => {
  it('A diagnosis calls nothing healthy when the ledger or the workloads were not looked at', () => {
    expect(summarize(createDiagnosis(healthyFacts))).to.equal('healthy');
    const skipped = ['allocators'];
    for (const facts of [withoutStatus, withoutWorkloads])
      expect(summarize(createDiagnosis({ ...facts, skipped }))).to.equal('no finding; skipped: allocators');
  });

  it('A diagnosis prints parts that could not be looked at for the same reason as one line', () => {
    const parts = ['allocators', 'comparison', ...Array.from({ length: 5_000 }, (_, index) => `metrics of a-${index}`)];
    const gaps = [
      ...parts.map((part) => ({ part, reason: 'cannot reach it' })),
      { part: 'RBAC', reason: 'no permission' },
    ];
    expect(formatDiagnosis(createDiagnosis({ ...healthyFacts, gaps }))).to.equal(
      `not looked at: ${parts.slice(0, 10).join(', ')}, … (4992 more): cannot reach it\n` +
        'not looked at: RBAC: no permission\nno finding; 5003 parts could not be looked at\n',
    );
  });

  it('A diagnosis is not waited for while a kubeconfig or a permission is missing', async () => {
    for (const reason of [
      'there is no kubeconfig: set KUBECONFIG, or add --skip kubernetes',
      'cannot read /api/v1/pods of the Kubernetes API at https://a (403 pods is forbidden: User "anna" cannot list)',
    ]) {
      const sick = createDiagnosis({ ...healthyFacts, gaps: [{ part: 'Kubernetes', reason, isLasting: true }] });
      const reported: string[] = [];
      const never = new AbortController().signal;
      const found = await waitUntilHealthy(
        () => Promise.resolve(sick),
        300,
        never,
        (text) => void reported.push(text),
      );
      expect({ found, reported }).to.deep.equal({ found: sick, reported: [] });
    }
  });

  it('A diagnosis is waited for with the findings and the parts that are missing', async () => {
    const gaps = [{ part: 'comparison', reason: 'the writer starts' }];
    const facts: Facts = { ...healthyFacts, gaps, leases: [{ name: 'ipledger-pod-watcher' }] };
    const stop = new AbortController();
    const reported: string[] = [];
    const waiting = waitUntilHealthy(
      () => Promise.resolve(createDiagnosis(facts)),
      300,
      stop.signal,
      (text) => {
        reported.push(text);
        stop.abort();
      },
    );
    expect(await waiting.catch(() => 'stopped')).to.equal('stopped');
    expect(reported.join('')).to.match(
      /^waiting: critical: Lease ipledger-pod-watcher: .+\nwaiting: not looked at: comparison: the writer starts\n$/,
    );
  });
});
