/**
 * `make e2e-chart`: the chart on three workers, from its installation to its removal. The tests are
 * steps of one story.
 */
import { expect } from 'chai';
import { canPing } from '../../node/sandboxes.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { probeNodeSupport } from '../../harness/node/node-support.ts';
import { podImage } from '../../harness/node/pod-image.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { inNamespace } from '../../harness/network/network-namespaces.ts';
import { textOf } from '../../harness/json.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type ChartEnvironment, startChartEnvironment, upgradeTag } from './chart-environment.ts';
import { expectClean, expectToPing, findSandbox, underLoad, waitForAddress } from './chart-checks.ts';
import { readSubnets } from './console-access.ts';
import { readCommands } from './install-guide.ts';
import { cutNetwork, restoreNetwork } from './cut-network.ts';
import { listBackups, loseVolume } from './etcd-volume.ts';
import { loseDels } from './lost-dels.ts';
import { ledgerPod, listFailedAdds, network, networkObjects } from './ledger-pods.ts';
import { findWriter, killContainer, podsOf } from './release-pods.ts';
import { namespace } from '../render-chart.ts';

const limitMs = 900_000;
const runMs = 180_000;
/** The Pods that live through all steps. */
const residents = ['resident-a', 'resident-b'] as const;
/** The member whose data the backup would need in a chart with a fixed member for backups. */
const lostMember = 'ipledger-etcd-0';

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
    environment = await startChartEnvironment(run, { nodes: 3, helm: 'helm' });
    nodes = environment.workers.slice(0, 2) as [Worker, Worker];
  });
  after(() => run?.end());

  const residentAddresses = (): Promise<string[]> =>
    Promise.all(residents.map((pod) => waitForAddress(environment, pod)));
  const expectResidentsToPing = async (): Promise<void> => {
    await residentAddresses();
    await expectToPing(nodes.map((worker, index) => ({ worker, pod: String(residents[index]) })));
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
    const addresses = await Promise.all(
      nodes.map(({ name }) =>
        eventually(async () => {
          const { status } = await kubernetes.get('Pod', `box-${name}`);
          expect(status?.['phase']).to.equal('Running');
          return textOf(status?.['podIP']);
        }, runMs),
      ),
    );
    for (const [index, worker] of nodes.entries()) {
      const box = findSandbox(worker, `box-${worker.name}`);
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

  it('the commands of docs/install.md lead to a Pod with an address, and leave the definition of Multus as it is', async () => {
    const multus = await environment.cluster.get(['crd', 'network-attachment-definitions.k8s.cni.cncf.io']);
    const startedAt = performance.now();
    const seconds = (): string => ((performance.now() - startedAt) / 1_000).toFixed(1);
    await environment.follow('Before you begin');
    await environment.follow('High availability');
    const installedAfter = seconds();
    await environment.follow('The first Pod');
    console.log(`      the first Pod is Ready after ${seconds()} s, helm install has ended after ${installedAfter} s`);
    expect(await environment.cluster.get(['crd', 'network-attachment-definitions.k8s.cni.cncf.io'])).to.deep.equal(
      multus,
    );
  });

  it('Pods on two nodes get addresses and ping each other', async () => {
    for (const object of networkObjects()) await environment.kubernetes.create(object);
    for (const [index, pod] of residents.entries())
      await environment.kubernetes.create(ledgerPod(pod, String(nodes[index]?.name)));
    await expectResidentsToPing();
    expect(await listFailedAdds(environment.kubernetes)).to.deep.equal([]);
    await expectClean(environment);
  });

  it('a person signs in to the console by its Service with a token, and sees the Subnets', async () => {
    const { items } = await readSubnets(environment, nodes[0]);
    const used = items.find(({ name }) => name === network)?.usage.map(({ inUse }) => Number(inUse));
    expect(used, JSON.stringify(items)).to.deep.equal([residents.length, residents.length]);
  });

  it('the writer and a member of etcd are killed under load: no address is allocated twice', async () => {
    const before = await residentAddresses();
    await underLoad(environment, nodes, async (load) => {
      await killContainer(environment, await findWriter(environment));
      await load.waitFor(4);
      const [member] = await podsOf(environment, 'etcd');
      if (!member) throw new Error('there is no member of etcd');
      await killContainer(environment, member);
      await load.waitFor(4);
    });
    expect(await residentAddresses()).to.deep.equal(before);
    await expectClean(environment);
  });

  it('all packets of one node are dropped under load: Pods on the other nodes get addresses, and no address is allocated twice', async () => {
    const before = await residentAddresses();
    const [, , isolated] = environment.workers as [Worker, Worker, Worker];
    await underLoad(environment, nodes, async (load) => {
      await cutNetwork(isolated);
      await load.waitFor(12);
      await restoreNetwork(isolated);
      await load.waitFor(4);
    });
    expect(await residentAddresses()).to.deep.equal(before);
    await environment.kubernetes.create(ledgerPod('isolated', isolated.name));
    expect(before).to.not.include(await waitForAddress(environment, 'isolated'));
    await expectClean(environment);
  });

  it('a member of etcd that lost its volume is replaced under load, and a backup needs no particular member', async () => {
    const before = await residentAddresses();
    await underLoad(environment, nodes, async (load) => {
      await loseVolume(environment, lostMember);
      await load.waitFor(4);
      await environment.shell(
        `kubectl create job --from=cronjob/ipledger-etcd-backup without-a-member -n ${namespace}
         kubectl wait --for=condition=Complete job/without-a-member -n ${namespace} --timeout=5m`,
      );
      await environment.follow('Replace a member of etcd', {
        guide: 'operations.md',
        replace: { 'ipledger-etcd-2': lostMember },
      });
      await load.waitFor(4);
    });
    expect(await residentAddresses()).to.deep.equal(before);
    await expectClean(environment);
  });

  it('a backup is restored, and recover brings it up to the state of the cluster', async () => {
    const before = await residentAddresses();
    const backup = (await listBackups(environment)).find((name) => name.startsWith('without-a-member'));
    if (backup === undefined) throw new Error('there is no backup without the lost member');
    await environment.kubernetes.create(ledgerPod('younger', nodes[0].name));
    const younger = await waitForAddress(environment, 'younger');
    await environment.follow('The etcd of the chart', {
      guide: 'operations.md',
      replace: { 'ipledger-etcd-backup-29384720-x7k2p.db': backup },
    });
    await eventually(async () => {
      const { stdout, stderr } = await environment.ipledger(['status']);
      expect(stdout, stderr).to.match(/^frozen: +since/m);
    }, runMs);
    // A run that finds an allocator in its start stops early, and is repeated
    await eventually(async () => {
      const { code, stdout, stderr } = await environment.ipledger(['recover', '--apply', '--reason', 'restored']);
      expect(code, `${stdout}${stderr}`).to.equal(0);
    }, runMs);
    expect(await residentAddresses()).to.deep.equal(before);
    await environment.kubernetes.create(ledgerPod('after-restore', nodes[1].name));
    expect([...before, younger]).to.not.include(await waitForAddress(environment, 'after-restore'));
    await expectResidentsToPing();
    await expectClean(environment);
  });

  it('bindings whose DELs were lost end, with the evidence, and bindings of running Pods stay', async () => {
    const { kubernetes, ipledger } = environment;
    const before = await residentAddresses();
    const pods = ['lost-0', 'lost-1', 'lost-2', 'lost-3'];
    for (const pod of pods) await kubernetes.create(ledgerPod(pod, nodes[0].name));
    for (const pod of pods) await waitForAddress(environment, pod);
    const findDels = await loseDels(nodes[0]);
    const startedAt = performance.now();
    await Promise.all(pods.map((pod) => kubernetes.remove('Pod', pod, 1)));
    for (const pod of pods)
      await eventually(async () => {
        const { stdout, stderr } = await ipledger(['history', 'pod', `default/${pod}`]);
        expect(stdout, stderr).to.match(/AddressUnbound.* garbage-collected: its network namespace \S+ is deleted/);
        expect(stdout, stderr).to.contain('AddressReleased');
      }, runMs);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`      the bindings of the deleted Pods have ended after ${seconds} s`);
    await findDels();
    await kubernetes.create(ledgerPod('after-lost', nodes[0].name));
    expect(before).to.not.include(await waitForAddress(environment, 'after-lost'));
    expect(await residentAddresses()).to.deep.equal(before);
    await expectResidentsToPing();
    await expectClean(environment);
  });

  for (const [command, tag] of [
    ['upgrade', upgradeTag],
    ['rollback', undefined],
  ] as const)
    it(`helm ${command} restarts all programs under load without a failed ADD`, async () => {
      const before = [await residentAddresses(), await listFailedAdds(environment.kubernetes)];
      environment.setValues({ tag: upgradeTag });
      await underLoad(environment, nodes, async () => {
        if (command === 'upgrade') await environment.follow('Upgrade');
        else await environment.shell(`helm rollback ipledger 1 -n ${namespace} --wait --timeout 10m`);
      });
      environment.setValues({});
      expect([await residentAddresses(), await listFailedAdds(environment.kubernetes)]).to.deep.equal(before);
      for (const component of ['allocator', 'pod-watcher', 'node-agent', 'etcd', 'read-model', 'console'])
        for (const { image, name } of await podsOf(environment, component))
          expect(image.endsWith(`:${upgradeTag}`), `${name} runs ${image}`).to.equal(tag === upgradeTag);
      await expectResidentsToPing();
      await expectClean(environment);
    });

  it('helm uninstall keeps the ledger and the Pods, and the next installation continues it', async () => {
    const { kubernetes, follow, shell, ipledger } = environment;
    const before = await residentAddresses();
    const [scale = '', uninstall = '', remove = ''] = readCommands('install.md', 'Uninstall').trim().split('\n');
    await shell(scale);
    await eventually(async () => expect(await podsOf(environment, 'pod-watcher')).to.have.length(0), runMs);
    const { stdout: events } = await ipledger(['export']);
    expect(events).to.contain('resident-a');
    await shell(`${uninstall} --yes`);
    await shell(`${remove} --wait`);
    await eventually(async () => {
      for (const component of ['allocator', 'node-agent', 'etcd', 'read-model', 'console'])
        expect(await podsOf(environment, component), component).to.have.length(0);
    }, runMs);
    expect(await kubernetes.list('IP')).to.have.length(0);
    await expectResidentsToPing();

    await follow('High availability');
    const kept = await ipledger(['export', '--to', String(events.trimEnd().split('\n').length)]);
    expect(kept.stdout === events, 'the events are those before').to.equal(true);
    expect(await residentAddresses()).to.deep.equal(before);
    await kubernetes.create(ledgerPod('newcomer', nodes[1].name));
    expect(before).to.not.include(await waitForAddress(environment, 'newcomer'));
    await expectResidentsToPing();
    await expectClean(environment);
  });
});
