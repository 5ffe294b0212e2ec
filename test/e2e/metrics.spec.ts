/** What is scraped of a running stack: the counts that the Subnets' status shows, and the metrics that the documentation lists. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../harness/paths.ts';
import { startIndex } from '../harness/services.ts';
import { eventually } from './eventually.ts';
import { addressesIn, plugin } from './plugin.ts';
import {
  addressOf,
  eventOf,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openScene,
  type Scene,
} from './scene.ts';

/** What Prometheus reads of a listener. */
async function page(health: string): Promise<string> {
  const response = await fetch(`http://${health}/metrics`);
  expect(response.status).to.equal(200);
  return response.text();
}

/** The value of a sample, by its name and labels as they are written. */
async function sample(health: string, series: string): Promise<number | undefined> {
  const line = (await page(health)).split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe('Metrics', function () {
  this.timeout(120_000);
  let scene: Scene;
  let taken: string;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'counted', '10.4.0.0/28');
    await makeNetwork(scene, 'twofold');
    await makeSubnet(scene, 'twofold', { cidrBlock: '10.5.0.0/28,fd00:5::/124', excludeIps: ['10.5.0.2..10.5.0.9'] });
    for (const pod of ['one', 'two']) await makePod(scene, pod, 'counted,twofold');
    await addressOf(scene, 'one', 'counted');
    taken = await addressOf(scene, 'two', 'counted');
  });
  after(() => scene?.run.end());

  const statusOf = async (subnet: string) =>
    (await scene.kubernetes.get('Subnet', subnet)).status as Record<string, number> | undefined;

  it('WB-52 count what the Subnet’s status counts, under Kube-OVN’s names', async () => {
    const labels = '{subnet_name="counted",protocol="IPv4",subnet_cidr="10.4.0.0/28"}';
    const { health } = scene.stack.allocator;
    await eventually(async () => expect(await statusOf('counted')).to.include({ v4usingIPs: 2, v4availableIPs: 11 }));
    expect(await sample(health, `subnet_used_ip_count${labels}`)).to.equal(2);
    expect(await sample(health, `subnet_available_ip_count${labels}`)).to.equal(11);
    await scene.kubernetes.remove('Pod', 'one');
    await eventually(async () => expect(await statusOf('counted')).to.include({ v4usingIPs: 1, v4availableIPs: 12 }));
    expect(await sample(health, `subnet_used_ip_count${labels}`)).to.equal(1);
    expect(await sample(health, `subnet_available_ip_count${labels}`)).to.equal(12);
  });

  it('CA-5430 count each family by itself, and under Kube-OVN’s names the one that is nearer to its end', async () => {
    const { health } = scene.stack.allocator;
    await eventually(async () =>
      expect(await statusOf('twofold')).to.include({ v4usingIPs: 1, v4availableIPs: 4, v6availableIPs: 12 }),
    );
    const ofFamily = (family: string, state: string) =>
      sample(health, `ipledger_addresses{subnet="twofold",family="${family}",state="${state}"}`);
    expect(await ofFamily('IPv4', 'available')).to.equal(4);
    expect(await ofFamily('IPv6', 'available')).to.equal(12);
    expect(await ofFamily('IPv4', 'in_use')).to.equal(1);
    const labels = '{subnet_name="twofold",protocol="Dual",subnet_cidr="10.5.0.0/28,fd00:5::/124"}';
    expect(await sample(health, `subnet_available_ip_count${labels}`)).to.equal(4);
  });

  it('tell of appends, refusals and who waits', async () => {
    const { allocator, watcher } = scene.stack;
    await makePod(scene, 'unlucky', 'counted', { 'counted.default.kubernetes.io/ip_address': taken });
    await eventOf(scene, 'unlucky', 'AcquireAddressFailed', /in use|conflict/i);
    expect(
      await sample(allocator.health, 'ipledger_calls_total{method="Allocate",code="ADDRESS_IN_USE"}'),
    ).to.be.greaterThan(0);
    expect(await sample(allocator.health, 'ipledger_appends_total{outcome="appended"}')).to.be.greaterThan(0);
    expect(await sample(allocator.health, 'ipledger_writer')).to.equal(1);
    await eventually(async () => expect(await sample(watcher.health, 'ipledger_waiting_pods')).to.equal(1));
    expect(await sample(watcher.health, 'ipledger_releases_halted{kind="pods"}')).to.equal(0);
    await eventually(async () =>
      expect(await sample(watcher.health, 'ipledger_shown_seq')).to.equal(
        await sample(allocator.health, 'ipledger_head_seq'),
      ),
    );
  });

  it('count the plugin’s requests by what came of them', async () => {
    const { health } = scene.stack.agents[0];
    expect(addressesIn(await plugin(scene, { pod: 'two', network: 'counted' }))).to.deep.equal([`${taken}/28`]);
    await plugin(scene, { pod: 'two', network: 'unknown' });
    expect(await sample(health, 'ipledger_cni_requests_total{verb="add",code="OK"}')).to.equal(1);
    expect(await sample(health, 'ipledger_cni_requests_total{verb="add",code="PROVIDER_UNBOUND"}')).to.equal(1);
    const timed = 'cni_op_latency_seconds_count{node_name="node-1",method="/api/v1/add",status_code=';
    expect(await sample(health, `${timed}"200"}`)).to.equal(1);
    expect(await sample(health, `${timed}"400"}`)).to.equal(1);
  });

  it('are those that docs/metrics.md lists, each at the part that it says', async () => {
    const { allocator, watcher, agents } = scene.stack;
    const index = await startIndex(scene.run, { allocator });
    const table = readFileSync(join(root, 'docs/metrics.md'), 'utf8').matchAll(/^\| `(\w+)` \| ([\w-]+) \|/gm);
    const listed = [...table].map(([, name, part]) => `${part}: ${name}`);
    const served = await Promise.all(
      Object.entries({ allocator, 'pod-watcher': watcher, 'node-agent': agents[0], index }).map(
        async ([part, { health }]) =>
          [...(await page(health)).matchAll(/^# TYPE ((?:ipledger|subnet|cni)_\w+) /gm)].map(
            ([, name]) => `${part}: ${name}`,
          ),
      ),
    );
    expect(served.flat().toSorted()).to.deep.equal(listed.toSorted());
  });
});
