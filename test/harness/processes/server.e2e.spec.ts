import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Cluster, startCluster } from '../kubernetes/cluster.ts';
import { type Etcd, startEtcd } from '../etcd.ts';
import { startTimeOf } from '../../../local/up/pid-file.ts';
import { openRun, type Run } from '../run.ts';
import { startServer } from './server.ts';

async function until(what: string, isMet: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if (await isMet()) return;
    await sleep(50);
  }
  throw new Error(`timeout: waited until ${what}`);
}

describe('Real servers', function () {
  this.timeout(120_000);

  describe('etcd', () => {
    let run: Run;
    let etcd: Etcd;
    before(async () => {
      run = openRun();
      etcd = await startEtcd(run);
    });
    after(() => run.end());

    it('The etcd of the harness keeps its port and data after SIGKILL and a restart', async () => {
      await etcd.etcdctl(['put', '/some/key', 'some value']);
      const { endpoint, pid } = etcd;
      await etcd.kill();
      expect(etcd.isAlive).to.be.false;
      await etcd.start();
      expect(etcd.pid).to.not.equal(pid);
      expect(etcd.endpoint).to.equal(endpoint);
      expect(await etcd.etcdctl(['get', '--print-value-only', '/some/key'])).to.equal('some value\n');
    });

    it('The etcd of the harness does not answer while it is frozen, and continues after resume', async () => {
      etcd.freeze();
      const unanswered: unknown = await etcd
        .etcdctl(['get', '/some/key', '--command-timeout=500ms'])
        .catch((error: unknown) => error);
      etcd.resume();
      expect(unanswered).to.have.property('message').that.contains('deadline exceeded');
      expect(await etcd.etcdctl(['get', '--print-value-only', '/some/key'])).to.equal('some value\n');
    });

    it('The etcd of the harness ends on SIGTERM', async () => {
      await etcd.stop();
      expect(startTimeOf(etcd.pid)).to.equal(undefined);
      await etcd.start();
    });
  });

  describe('A Kubernetes API', () => {
    let run: Run;
    let cluster: Cluster;
    before(async () => {
      run = openRun();
      cluster = await startCluster(run, { nodes: ['node-1', 'node-2'] });
    });
    after(() => run.end());

    it('A Kubernetes API has the nodes and the kinds of the project', async () => {
      const nodes = (await cluster.get(['nodes'])) as { metadata: { name: string } }[];
      expect(nodes.map(({ metadata }) => metadata.name)).to.have.members(['node-1', 'node-2']);
      expect(await cluster.get(['subnets.kubeovn.io'])).to.deep.equal([]);
    });

    it('A Kubernetes API creates the Pods of a Deployment', async () => {
      const containers = [{ name: 'box', image: 'box' }];
      const labels = { app: 'box' };
      const template = { metadata: { labels }, spec: { containers } };
      const spec = { replicas: 2, selector: { matchLabels: labels }, template };
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'box' }, spec };
      await cluster.apply(JSON.stringify(deployment));
      await until('two Pods exist', async () => {
        const pods = (await cluster.get(['pods', '-l', 'app=box'])) as unknown[];
        return pods.length === 2;
      });
    });

    it('A Kubernetes API enforces the permissions of a user', async () => {
      const kubeconfig = await cluster.kubeconfigFor('system:serviceaccount:default:powerless');
      const may = (who: string[]): Promise<string> => cluster.kubectl([...who, 'auth', 'can-i', 'list', 'pods']);
      expect(await may([])).to.equal('yes\n');
      const refused: unknown = await may(['--kubeconfig', kubeconfig]).catch((error: unknown) => error);
      expect(refused).to.have.property('message').that.contains('no');
    });

    it('A Kubernetes API keeps its objects after SIGKILL of the API server and its etcd', async () => {
      await Promise.all([cluster.apiServer.kill(), cluster.etcd.kill()]);
      await cluster.etcd.start();
      await cluster.apiServer.start();
      expect(await cluster.get(['deployments'])).to.have.length(1);
    });
  });

  describe('A run', () => {
    it('A run leaves no process and no folder behind when it ends', async () => {
      const run = openRun();
      const etcd = await startEtcd(run);
      await run.end();
      expect(startTimeOf(etcd.pid)).to.equal(undefined);
      expect(existsSync(run.folder)).to.be.false;
      await run.end();
    });

    it('A run reports why a server did not start, and ends cleanly', async () => {
      const run = openRun();
      const first = await startEtcd(run, { name: 'one' });
      const launch = { name: 'two', program: 'sh', args: ['-c', 'echo cannot do this; exit 3'] };
      const ready = (): Promise<void> => Promise.reject(new Error('not yet'));
      const failed: unknown = await startServer(run, { ...launch, ready, readyWithinMs: 5_000 }).catch(
        (error: unknown) => error,
      );
      expect(failed).to.have.property('message').that.contains('cannot do this');
      await run.end();
      expect(startTimeOf(first.pid)).to.equal(undefined);
    });

    it('A run signals the child if the program only waits for it', async () => {
      const run = openRun();
      const launch = { name: 'waiting', program: 'sh', args: ['-c', 'sleep 86400; true'], waitsForChild: true };
      const server = await startServer(run, { ...launch, ready: () => Promise.resolve(), readyWithinMs: 5_000 });
      await until('it runs', () => readFileSync(`/proc/${server.pid}/comm`, 'utf8') === 'sleep\n');
      const { pid } = server;
      await server.stop();
      expect(startTimeOf(pid)).to.equal(undefined);
      await run.end();
    });

    for (const action of ['stop', 'kill'] as const)
      it(`A run ends after ${action} while the program that waits for it is suspended`, async () => {
        const run = openRun();
        const launch = { name: 'waiting', program: 'sh', args: ['-c', 'sleep 86400; true'], waitsForChild: true };
        const server = await startServer(run, { ...launch, ready: () => Promise.resolve(), readyWithinMs: 5_000 });
        await until('it runs', () => readFileSync(`/proc/${server.pid}/comm`, 'utf8') === 'sleep\n');
        const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]);
        process.kill(parent, 'SIGSTOP');
        await server[action]();
        expect(server.isAlive).to.equal(false);
        await run.end();
      });

    it('A run leaves nothing behind after SIGKILL of its process', async () => {
      const fixture = join(import.meta.dirname, 'abandoned-run.fixture.ts');
      const abandoned = spawn(process.execPath, [fixture], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = (await once(createInterface(abandoned.stdout), 'line')) as [string];
      const { pid, folder, namespace } = JSON.parse(line) as { pid: number; folder: string; namespace?: string };
      expect(startTimeOf(pid)).to.be.a('string');
      expect(existsSync(folder)).to.be.true;
      if (namespace !== undefined) expect(existsSync(namespace)).to.be.true;

      abandoned.kill('SIGKILL');
      await until('etcd has ended', () => startTimeOf(pid) === undefined);
      await until('the folder is removed', () => !existsSync(folder));
      if (namespace !== undefined) await until('the namespace is removed', () => !existsSync(namespace));
    });
  });
});
