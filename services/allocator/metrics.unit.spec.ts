import { expect } from 'chai';
import { pino } from 'pino';
import { ClusterHealth } from '../../ledger/log/store/cluster-health.ts';
import { allocatorMetrics } from './metrics.ts';

const limits = {
  archive: '',
  archiveMaxBytes: 0,
  keepEvents: 1_000,
  keepHours: 0,
  segmentEvents: 100,
  etcdQuota: 5_000,
};
const log = pino({ level: 'silent' });
const standby = { writer: undefined, follower: undefined };

const page = (changed: Partial<typeof limits> = {}): Promise<string> =>
  allocatorMetrics({ leadership: standby, limits: { ...limits, ...changed }, log }).registry.metrics();

describe('The metrics of an allocator', () => {
  it('the series of error codes with an alert start at 0', async () => {
    const lines = (await page()).split('\n');
    expect(lines).to.include('ipledger_calls_total{method="Allocate",code="SUBNET_FULL"} 0');
    expect(lines).to.include('ipledger_calls_total{method="Bind",code="RATE_LIMITED"} 0');
    expect(lines).to.include('ipledger_calls_total{method="Export",code="BUG"} 0');
  });

  it('The metrics of an allocator contain the configured quota of etcd', async () => {
    expect(await page()).to.match(/^ipledger_etcd_quota_bytes 5000$/m);
  });

  it('metrics show which members of etcd answer, and nothing if there is only one', async () => {
    for (const [health, lines] of [
      [undefined, []],
      [new ClusterHealth(['https://etcd-0:2379', 'https://etcd-1:2379']), ['etcd-0:2379"} 1', 'etcd-1:2379"} 0']],
    ] as const) {
      health?.onFailed(1, new Error('refused'));
      const metrics = allocatorMetrics({ leadership: standby, limits, log });
      metrics.followMembers(health);
      const read = await metrics.registry.metrics();
      expect(
        [...read.matchAll(/^ipledger_etcd_member_answers\{endpoint="(.+)$/gm)].map(([, line]) => line),
      ).to.deep.equal(lines);
    }
  });

  it('The metrics of an allocator contain the limit of unsealed events with an archive', async () => {
    expect(await page({ archive: '/archive' })).to.match(/^ipledger_live_events_limit 1200$/m);
  });

  it('metrics show why sealing fails, until it succeeds, and nothing without an archive', async () => {
    expect(await page()).not.to.contain('ipledger_sealing_failed{');
    const metrics = allocatorMetrics({ leadership: standby, limits: { ...limits, archive: '/archive' }, log });
    const values = async () =>
      [...(await metrics.registry.metrics()).matchAll(/^ipledger_sealing_failed\{reason="(\w+)"\} (\d)$/gm)].map(
        ([, reason, value]) => `${reason} ${value}`,
      );
    expect(await values()).to.deep.equal(['damaged 0', 'other 0']);
    metrics.onSealing('damaged');
    expect(await values()).to.deep.equal(['damaged 1', 'other 0']);
    metrics.onSealing('transient');
    expect(await values()).to.deep.equal(['damaged 0', 'other 1']);
    metrics.onSealing(undefined);
    expect(await values()).to.deep.equal(['damaged 0', 'other 0']);
  });

  for (const [what, changed] of [
    ['without an archive', {}],
    ['with --keep-hours', { archive: '/archive', keepHours: 24 }],
  ] as const)
    it(`The metrics of an allocator contain no limit of unsealed events ${what}`, async () => {
      expect(await page(changed)).not.to.match(/^ipledger_live_events_limit /m);
    });
});
