/**
 * Tests metrics of a running stack: they equal the counts in Subnet status, and docs/metrics.md
 * lists all of them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../harness/paths.ts';
import { startConsole } from '../harness/console.ts';
import { probeOvn } from '../harness/ovn/ovn-programs.ts';
import { startOvsdbServer } from '../harness/ovn/ovsdb-server.ts';
import { startOvnProjector, startReadModel } from '../harness/services.ts';
import { eventually } from './support/eventually.ts';
import { resultAddresses, callKubeOvnPlugin } from './support/plugin-call.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from './support/test-environment.ts';

/** Reads the metrics page of a program. */
async function readMetrics(health: string): Promise<string> {
  const response = await fetch(`http://${health}/metrics`);
  expect(response.status).to.equal(200);
  return response.text();
}

/** Returns the value of a sample, by its name and labels as written. */
async function readSample(health: string, series: string): Promise<number | undefined> {
  const line = (await readMetrics(health)).split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('Metrics', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let usedAddress: string;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'counted', '10.4.0.0/28');
    await makeNetwork(scene, 'twofold');
    await makeSubnet(scene, 'twofold', { cidrBlock: '10.5.0.0/28,fd00:5::/124', excludeIps: ['10.5.0.2..10.5.0.9'] });
    for (const pod of ['one', 'two']) await makePod(scene, pod, 'counted,twofold');
    await waitForAddress(scene, 'one', 'counted');
    usedAddress = await waitForAddress(scene, 'two', 'counted');
  });
  after(() => scene?.run.end());

  const statusOf = async (subnet: string) =>
    (await scene.kubernetes.get('Subnet', subnet)).status as Record<string, number> | undefined;

  /**
   * Waits until the metrics have these values: they are collected at most twice a second, and the
   * status follows the events.
   */
  const waitForSamples = (health: string, expected: Readonly<Record<string, number>>): Promise<void> =>
    eventually(async () => {
      const series = Object.keys(expected);
      const values = await Promise.all(series.map((each) => readSample(health, each)));
      expect(Object.fromEntries(series.map((each, index) => [each, values[index]]))).to.deep.equal(expected);
    });

  it('WB-52 Metrics equal the counts in Subnet status, under Kube-OVN’s names', async () => {
    const labels = '{subnet_name="counted",protocol="IPv4",subnet_cidr="10.4.0.0/28"}';
    const { health } = scene.stack.allocator;
    await eventually(async () => expect(await statusOf('counted')).to.include({ v4usingIPs: 2, v4availableIPs: 11 }));
    await waitForSamples(health, { [`subnet_used_ip_count${labels}`]: 2, [`subnet_available_ip_count${labels}`]: 11 });
    await scene.kubernetes.remove('Pod', 'one');
    await eventually(async () => expect(await statusOf('counted')).to.include({ v4usingIPs: 1, v4availableIPs: 12 }));
    await waitForSamples(health, { [`subnet_used_ip_count${labels}`]: 1, [`subnet_available_ip_count${labels}`]: 12 });
  });

  it('CA-5430 Metrics count each family separately, and under Kube-OVN’s names the family with fewer available addresses', async () => {
    const { health } = scene.stack.allocator;
    await eventually(async () =>
      expect(await statusOf('twofold')).to.include({ v4usingIPs: 1, v4availableIPs: 4, v6availableIPs: 12 }),
    );
    const ofTwofold = (family: string, state: string): string =>
      `ipledger_addresses{subnet="twofold",family="${family}",state="${state}"}`;
    const labels = '{subnet_name="twofold",protocol="Dual",subnet_cidr="10.5.0.0/28,fd00:5::/124"}';
    await waitForSamples(health, {
      [ofTwofold('IPv4', 'available')]: 4,
      [ofTwofold('IPv6', 'available')]: 12,
      [ofTwofold('IPv4', 'in_use')]: 1,
      [`subnet_available_ip_count${labels}`]: 4,
    });
  });

  it('Metrics count appends, refusals and waiting Pods', async () => {
    const { allocator, watcher } = scene.stack;
    await makePod(scene, 'unlucky', 'counted', { 'counted.default.kubernetes.io/ip_address': usedAddress });
    await waitForEvent(scene, 'unlucky', 'AcquireAddressFailed', /in use|conflict/i);
    const refusals = 'ipledger_calls_total{method="Allocate",code="ADDRESS_IN_USE"}';
    await eventually(async () => expect(await readSample(allocator.health, refusals)).to.be.greaterThan(0));
    expect(await readSample(allocator.health, 'ipledger_appends_total{outcome="appended"}')).to.be.greaterThan(0);
    expect(await readSample(allocator.health, 'ipledger_is_leader')).to.equal(1);
    await eventually(async () => expect(await readSample(watcher.health, 'ipledger_waiting_pods')).to.equal(1));
    expect(await readSample(watcher.health, 'ipledger_releases_halted{kind="pods"}')).to.equal(0);
    await eventually(async () =>
      expect(await readSample(watcher.health, 'ipledger_projected_seq')).to.equal(
        await readSample(allocator.health, 'ipledger_head_seq'),
      ),
    );
  });

  it('Metrics count the requests of the plugin by their result', async () => {
    const { health } = scene.stack.agents[0];
    expect(resultAddresses(await callKubeOvnPlugin(scene, { pod: 'two', network: 'counted' }))).to.deep.equal([
      `${usedAddress}/28`,
    ]);
    await callKubeOvnPlugin(scene, { pod: 'two', network: 'unknown' });
    expect(await readSample(health, 'ipledger_cni_requests_total{verb="add",code="OK"}')).to.equal(1);
    expect(await readSample(health, 'ipledger_cni_requests_total{verb="add",code="PROVIDER_UNBOUND"}')).to.equal(1);
    const timed = 'cni_op_latency_seconds_count{node_name="node-1",method="/api/v1/add",status_code=';
    expect(await readSample(health, `${timed}"200"}`)).to.equal(1);
    expect(await readSample(health, `${timed}"400"}`)).to.equal(1);
  });

  it('Metrics are all listed in docs/metrics.md, each with its program', async () => {
    const { allocator, cluster, watcher, agents } = scene.stack;
    const hasOvn = probeOvn().isAvailable;
    const [readModel, northbound] = await Promise.all([
      startReadModel(scene.run, { allocator }),
      hasOvn ? startOvsdbServer(scene.run, { name: 'nb', schema: 'northbound' }) : undefined,
    ]);
    const projector = northbound && (await startOvnProjector(scene.run, { allocator, cluster, northbound }));
    if (!projector) console.log('      without the OVN projector: OVN is missing');
    const pages = await startConsole(scene.run, { allocator, readModel });
    const table = readFileSync(join(root, 'docs/metrics.md'), 'utf8').matchAll(/^\| `(\w+)` \| ([\w-]+) \|/gm);
    const listed = [...table]
      .map(([, name, part]) => `${part}: ${name}`)
      .filter((each) => hasOvn || !each.startsWith('ovn-'));
    const served = await Promise.all(
      Object.entries({
        allocator,
        'pod-watcher': watcher,
        'node-agent': agents[0],
        ...(projector && { 'ovn-projector': projector }),
        'read-model': readModel,
        console: pages,
      }).map(async ([part, { health }]) =>
        [...(await readMetrics(health)).matchAll(/^# TYPE ((?:ipledger|subnet|cni)_\w+) /gm)].map(
          ([, name]) => `${part}: ${name}`,
        ),
      ),
    );
    expect(served.flat().toSorted()).to.deep.equal(listed.toSorted());
  });
});
