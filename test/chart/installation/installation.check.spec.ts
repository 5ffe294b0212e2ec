/** `make e2e-chart`: the chart on three workers, from its installation to its removal. The tests are steps of one story. */
import { expect } from 'chai';
import { canPing, listLinks, listSandboxes, type Sandbox } from '../../node/sandboxes.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { probeNodeSupport } from '../../harness/node/node-support.ts';
import { podImage } from '../../harness/node/pod-image.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { inNamespace } from '../../harness/network/network-namespaces.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type ChartEnvironment, startChartEnvironment, upgradeTag } from './chart-environment.ts';
import { addressesOf, ledgerPod, listFailedAdds, networkObjects, nic } from './ledger-pods.ts';
import { type PodLoad, startPodLoad } from './pod-load.ts';
import { findWriter, killContainer, podsOf } from './release-pods.ts';
import { namespace } from '../render-chart.ts';

const limitMs = 900_000;
const runMs = 180_000;
/** The Pods that live through all steps. */
const residents = ['resident-a', 'resident-b'] as const;

describe('make e2e-chart', function () {
  this.timeout(limitMs);
  this.bail(true); // each step needs the one before
  let run: Run;
  let environment: ChartEnvironment;
  let nodes: [Worker, Worker];
  before(async () => {
    const support = await probeNodeSupport();
    if (!support.isAvailable) throw new Error(`this machine cannot run nodes: ${support.reason}`);
    run = openRun();
    environment = await startChartEnvironment(run);
    nodes = environment.workers.slice(0, 2) as [Worker, Worker];
  });
  after(() => run?.end());

  const sandboxOf = (worker: Worker, pod: string): Sandbox => {
    const found = listSandboxes(worker).find((sandbox) => sandbox.pod === `default/${pod}`);
    if (!found) throw new Error(`Pod ${pod} has no sandbox on ${worker.name}`);
    return found;
  };
  const addressOf = (pod: string): Promise<string> =>
    eventually(async () => {
      const object = await environment.kubernetes.get('Pod', pod);
      expect(object.status?.['phase'], pod).to.equal('Running');
      const address = pod.startsWith('box') ? (object.status?.['podIP'] as string | undefined) : addressesOf(object);
      if (address === undefined) throw new Error(`Pod ${pod} has no address`);
      return address;
    }, runMs);
  const residentAddresses = (): Promise<string[]> => Promise.all(residents.map(addressOf));
  /** For IPv6 the agent writes sysctls in the sandbox. */
  const expectResidentsToPing = async (): Promise<void> => {
    await residentAddresses();
    const sandboxes = nodes.map((worker, index) => sandboxOf(worker, String(residents[index])));
    const links = await Promise.all(sandboxes.map(({ network }) => listLinks(network)));
    for (const [index, sandbox] of sandboxes.entries()) {
      const others = links[1 - index]?.get(nic) ?? [];
      expect(others, 'IPv4 and IPv6 addresses').to.have.length(2);
      for (const other of others)
        expect(await canPing(sandbox, other.replace(/\/.*/, '')), `${sandbox.pod} pings ${other}`).to.equal(true);
    }
  };
  /** Ledger, Kubernetes and the log agree. A command that finds an allocator in its restart is repeated. */
  const expectClean = async (): Promise<void> => {
    for (const command of [['check', '--keys'], ['verify']])
      await eventually(async () => {
        const { code, stdout, stderr } = await environment.ipledger(command);
        expect(code, `ipledger ${command.join(' ')}: ${stdout}${stderr}`).to.equal(0);
      }, runMs);
  };
  const underLoad = async (work: (load: PodLoad) => Promise<void>): Promise<void> => {
    const load = startPodLoad({ kubernetes: environment.kubernetes, nodes: nodes.map(({ name }) => name), slots: 4 });
    await load.waitFor(4);
    await work(load);
    await load.waitFor(4);
    await load.stop();
    const seconds = (load.slowestMs / 1_000).toFixed(1);
    console.log(`      ${load.readyPods} Pods of the load became ready, each within ${seconds} s`);
  };

  it('the workers have Services, cluster DNS and a network across nodes', async () => {
    const { cluster, kubernetes } = environment;
    const serve = ['/bin/busybox', 'httpd', '-f', '-p', '80'];
    for (const { name } of nodes) {
      const containers = [{ name: 'box', image: podImage, command: serve }];
      const metadata = { name: `box-${name}`, labels: { app: 'box' } };
      await kubernetes.create({ kind: 'Pod', metadata, spec: { nodeName: name, containers } });
    }
    await cluster.kubectl(['expose', 'pod', `box-${nodes[1].name}`, '--name=box', '--port=80']);
    const addresses = await Promise.all(nodes.map(({ name }) => addressOf(`box-${name}`)));
    for (const [index, worker] of nodes.entries()) {
      const box = sandboxOf(worker, `box-${worker.name}`);
      expect(await canPing(box, String(addresses[1 - index])), `ping from ${worker.name}`).to.equal(true);
      const { network } = box;
      const { spec } = (await cluster.get(['service', 'box'])) as { spec: { clusterIP: string } };
      const service = `http://${spec.clusterIP}/`;
      await eventually(async () => {
        // httpd without files answers 404
        const answer = await inNamespace(network, ['curl', '--silent', '--max-time', '5', service]);
        expect(answer.stdout, service).to.contain('404');
      });
      const api = ['curl', '--silent', '--insecure', '--max-time', '5', 'https://10.96.0.1/version'] as const;
      expect((await inNamespace(network, api)).stdout).to.contain('"gitVersion"');
      await eventually(async () => {
        const question = ['nslookup', 'box.default.svc.cluster.local', worker.address];
        const { stdout } = await inNamespace(network, ['busybox', ...question]);
        expect(stdout).to.contain(spec.clusterIP);
      });
    }
    for (const { name } of nodes) await kubernetes.remove('Pod', `box-${name}`);
  });

  it('helm install --wait, then Pods on two nodes get addresses and ping each other', async () => {
    const startedAt = performance.now();
    await environment.helm('install');
    const installedAt = performance.now();
    for (const object of networkObjects()) await environment.kubernetes.create(object);
    await environment.kubernetes.create(ledgerPod(residents[0], nodes[0].name));
    await addressOf(residents[0]);
    const seconds = (from: number): string => ((performance.now() - from) / 1_000).toFixed(1);
    console.log(
      `      ${seconds(startedAt)} s from helm install to an address, ${seconds(installedAt)} s of it after helm`,
    );
    await environment.kubernetes.create(ledgerPod(residents[1], nodes[1].name));
    await expectResidentsToPing();
    expect(await listFailedAdds(environment.kubernetes)).to.deep.equal([]);
    await expectClean();
  });

  it('the writer and a member of etcd are killed under load: no address is allocated twice', async () => {
    const before = await residentAddresses();
    await underLoad(async (load) => {
      await killContainer(environment, await findWriter(environment));
      await load.waitFor(4);
      const [member] = await podsOf(environment, 'etcd');
      if (!member) throw new Error('there is no member of etcd');
      await killContainer(environment, member);
      await load.waitFor(4);
    });
    expect(await residentAddresses()).to.deep.equal(before);
    await expectClean();
  });

  for (const [command, args, tag] of [
    ['upgrade', [], upgradeTag],
    ['rollback', ['1'], undefined],
  ] as const)
    it(`helm ${command} restarts all programs under load without a failed ADD`, async () => {
      const before = [await residentAddresses(), await listFailedAdds(environment.kubernetes)];
      await underLoad(() => environment.helm(command, args));
      expect([await residentAddresses(), await listFailedAdds(environment.kubernetes)]).to.deep.equal(before);
      for (const component of ['allocator', 'pod-watcher', 'node-agent', 'etcd', 'read-model'])
        for (const { image, name } of await podsOf(environment, component))
          expect(image.endsWith(`:${upgradeTag}`), `${name} runs ${image}`).to.equal(tag === upgradeTag);
      await expectResidentsToPing();
      await expectClean();
    });

  it('helm uninstall keeps the ledger and the Pods, and the next installation continues it', async () => {
    const { cluster, kubernetes, helm, ipledger } = environment;
    const before = await residentAddresses();
    const scale = ['scale', 'deployment', 'ipledger-pod-watcher', '--replicas=0', `--namespace=${namespace}`];
    await cluster.kubectl(scale);
    await eventually(async () => expect(await podsOf(environment, 'pod-watcher')).to.have.length(0), runMs);
    const { stdout: events } = await ipledger(['export']);
    expect(events).to.contain('resident-a');
    const uninstalled = await ipledger(['uninstall', '--yes', `--namespace=${namespace}`]);
    expect(uninstalled.code, `${uninstalled.stdout}${uninstalled.stderr}`).to.equal(0);
    await helm('uninstall');
    await eventually(async () => {
      for (const component of ['allocator', 'node-agent', 'etcd', 'read-model'])
        expect(await podsOf(environment, component), component).to.have.length(0);
    }, runMs);
    expect(await kubernetes.list('IP')).to.have.length(0);
    await expectResidentsToPing();

    await helm('install');
    const kept = await ipledger(['export', '--to', String(events.trimEnd().split('\n').length)]);
    expect(kept.stdout === events, 'the events are those before').to.equal(true);
    expect(await residentAddresses()).to.deep.equal(before);
    await kubernetes.create(ledgerPod('newcomer', nodes[1].name));
    expect(before).to.not.include(await addressOf('newcomer'));
    await expectResidentsToPing();
    await expectClean();
  });
});
