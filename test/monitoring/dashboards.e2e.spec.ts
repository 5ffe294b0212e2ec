/**
 * Runs every query of the dashboards and alerts on a real Prometheus: it scrapes two allocators, a
 * read model and an OVN projector, too.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { alerts } from '../../deploy/monitoring/alerts.ts';
import { dashboards } from '../../deploy/monitoring/dashboards/dashboards.ts';
import { jobOf } from '../../deploy/monitoring/prometheus.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { callKubeOvnPlugin } from '../e2e/support/plugin-call.ts';
import {
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
  waitForAddress,
  waitForEvent,
} from '../e2e/support/test-environment.ts';
import { root } from '../harness/paths.ts';
import { runCommand } from '../harness/processes/command.ts';
import { type Prometheus, startPrometheus } from '../harness/prometheus.ts';
import { startConsole } from '../harness/console.ts';
import { probeOvn } from '../harness/ovn/ovn-programs.ts';
import { startOvsdbServer } from '../harness/ovn/ovsdb-server.ts';
import { startAllocator, startOvnProjector, startReadModel } from '../harness/services.ts';

/** Grafana sets `$__rate_interval` to at least four scrapes. Traffic within this time counts. */
const rateInterval = '1m';

async function startMonitoredStack(): Promise<{ environment: TestEnvironment; prometheus: Prometheus }> {
  const environment = await openTestEnvironment();
  const { run, stack } = environment;
  const { allocator, cluster, etcd, watcher, agents } = stack;
  const archive = join(run.folder, 'archive');
  mkdirSync(archive);
  const northbound = await startOvsdbServer(run, { name: 'nb', schema: 'northbound' });
  const [standby, readModel, projector] = await Promise.all([
    startAllocator(run, { etcd, name: 'allocator-2', archive: { location: archive } }),
    startReadModel(run, { allocator }),
    startOvnProjector(run, { allocator, cluster, northbound }),
  ]);
  const pages = await startConsole(run, { allocator, readModel });
  const prometheus = await startPrometheus(run, {
    targets: [
      { job: jobOf('allocator'), address: allocator.health },
      { job: jobOf('allocator'), address: standby.health },
      { job: jobOf('pod-watcher'), address: watcher.health },
      { job: jobOf('read-model'), address: readModel.health },
      { job: jobOf('ovn-projector'), address: projector.health },
      { job: jobOf('console'), address: pages.health },
      ...agents.map(({ health, node }) => ({ job: jobOf('node-agent'), address: health, labels: { node } })),
    ],
    ruleFiles: [join(root, 'deploy/chart/files/monitoring/alerts.yaml')],
  });
  return { environment, prometheus };
}

/** Replaces the variables of Grafana in a query. */
function withVariables(expression: string): string {
  const query = expression.replaceAll('$__rate_interval', rateInterval).replaceAll(/\$(subnet|node)\b/g, '.+');
  if (query.includes('$')) throw new Error(`a variable without a value: ${query}`);
  return query;
}

describe('A real Prometheus', function () {
  this.timeout(300_000);
  let environment: TestEnvironment;
  let prometheus: Prometheus;

  /** Makes Pods with and without an address, and requests of the plugin that succeed and fail. */
  async function makeTraffic(round: number): Promise<void> {
    const pod = `pod-${round}`;
    // The projector writes a transaction for each Subnet of an OVN network
    await makeSubnet(environment, `ovn-${round}`, {
      cidrBlock: `10.9.${round}.0/24`,
      provider: `n${round}.default.ovn`,
    });
    await makePod(environment, pod, 'lan');
    await waitForAddress(environment, pod, 'lan');
    await callKubeOvnPlugin(environment, { pod, network: 'lan' });
    await callKubeOvnPlugin(environment, { pod, network: 'lan', command: 'DEL' });
    await callKubeOvnPlugin(environment, { pod, network: 'unknown' });
  }

  /** Resolves when Prometheus has stored the present counts. */
  async function scrapeAgain(): Promise<void> {
    const seen = await prometheus.query('max(timestamp(up))');
    const since = Number(seen[0]?.value[1] ?? 0);
    await eventually(async () => {
      const [oldest] = await prometheus.query('min(timestamp(up))');
      expect(Number(oldest?.value[1])).to.be.greaterThan(since);
      expect(await prometheus.query('up == 1')).to.have.lengthOf(7);
    });
  }

  before(async function () {
    const isFound = await runCommand('prometheus', ['--version'], { timeoutMs: 30_000 }).then(
      ({ code }) => code === 0,
      () => false,
    );
    if (!isFound) {
      console.log('      skipped, prometheus is not on PATH: install the Debian package prometheus');
      this.skip();
    }
    const ovn = probeOvn();
    if (!ovn.isAvailable) {
      console.log(`      skipped: ${ovn.reason}`);
      this.skip();
    }
    ({ environment, prometheus } = await startMonitoredStack());
    await makeNetworkAndSubnet(environment, 'lan', '10.8.0.0/29');
    await makeTraffic(1);
    const taken = await waitForAddress(environment, 'pod-1', 'lan');
    await makePod(environment, 'refused', 'lan', { 'lan.default.kubernetes.io/ip_address': taken });
    await waitForEvent(environment, 'refused', 'AcquireAddressFailed', /in use|conflict/i);
    // A rate needs two samples of a counter, with an increase between them
    await scrapeAgain();
    await makeTraffic(2);
    await scrapeAgain();
  });
  after(() => environment?.run.end());

  for (const { name, rows } of dashboards)
    for (const { title, queries } of rows.flat())
      it(`A real Prometheus returns values for each query of the dashboard ${name}, panel "${title}"`, async () => {
        for (const { expression } of queries)
          await eventually(async () => {
            const series = await prometheus.query(withVariables(expression));
            expect(series, expression).to.be.an('array').that.is.not.empty;
            expect(series.map(({ value }) => Number(value[1])).some(Number.isFinite), expression).to.equal(true);
          });
      });

  it('A real Prometheus has values for each variable of the dashboards', async () => {
    for (const { metric, label } of dashboards.flatMap(({ variables }) => variables))
      expect(await prometheus.labelValues(metric, label)).to.have.members(
        label === 'subnet' ? ['lan', 'ovn-1', 'ovn-2'] : ['node-1'],
      );
  });

  it('A real Prometheus evaluates every alert without an error', async () => {
    const rules = await eventually(async () => {
      const evaluated = await prometheus.rules();
      expect(evaluated.filter(({ health }) => health === 'unknown')).to.deep.equal([]);
      return evaluated;
    });
    expect(rules.map(({ name }) => name)).to.deep.equal(alerts.map(({ name }) => name));
    expect(rules.filter(({ health }) => health !== 'ok')).to.deep.equal([]);
  });

  it('A real Prometheus has only the alerts for the small Subnet and the waiting Pod', async () => {
    await eventually(async () => {
      const active = await prometheus.query('ALERTS');
      expect(new Set(active.map(({ metric }) => metric['alertname']))).to.deep.equal(
        new Set(['IpledgerSubnetNearlyFull', 'IpledgerPodsWaiting']),
      );
    });
  });
});
