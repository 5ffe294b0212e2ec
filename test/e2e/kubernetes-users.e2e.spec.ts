/**
 * Tests people who identify themselves by Kubernetes tokens, which a real API server issues,
 * verifies and authorizes. Many tests are attacks.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Metadata } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { call, connect } from '../../lib/grpc/client.ts';
import { onBehalfOfKey } from '../../lib/grpc/server/authorization.ts';
import { loadTls, tokenTlsFromEnvironment } from '../../lib/tls/credentials.ts';
import { LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { certificateFolder, type CertificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { type Cluster, startCluster } from '../harness/kubernetes/cluster.ts';
import type { CommandResult } from '../harness/processes/command.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator, type TokenReviewSettings } from '../harness/services.ts';
import { eventually } from './support/eventually.ts';
import { applyChartRoles, createPerson, createToken, installed, writeUserKubeconfig } from './support/people.ts';

const timeoutMs = 20_000;
const lan = { provider: 'lan.default', cidrBlock: '10.9.0.0/24', gateway: '10.9.0.1' };

describe('Kubernetes users', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let etcd: Etcd;
  let certificates: CertificateFolder;
  let tokenReview: TokenReviewSettings;
  let allocator: AllocatorServer;
  let countFiles = 0;

  before(async () => {
    run = openRun();
    [cluster, etcd] = await Promise.all([
      startCluster(run, { nodes: [], controllers: false, crds: false }),
      startEtcd(run),
    ]);
    await applyChartRoles(cluster);
    await createPerson(cluster, 'alice', ['ipledger-operator']);
    await createPerson(cluster, 'bob', ['ipledger-reader']);
    await createPerson(cluster, 'carol', []);
    const kubeconfig = await cluster.kubeconfigFor(`system:serviceaccount:${installed}:ipledger-allocator`);
    tokenReview = { kubeconfig, account: `${installed}/ipledger-node-agent`, users: true };
    const folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: ['allocator', 'second'], nodes: [], operators: ['test'] });
    certificates = certificateFolder(folder);
    allocator = await startAllocator(run, { etcd, tls: certificates.allocator('allocator'), tokenReview });
    const operator = connect(allocator.endpoint, loadTls(certificates.operator('test')));
    await call(operator, SubnetsService.applySubnet, { name: 'lan', spec: lan }, { timeoutMs });
    operator.close();
  });
  after(() => run?.end());

  const tokenFile = (token: string): string => {
    const file = join(run.folder, `token-${countFiles++}`);
    writeFileSync(file, token);
    return file;
  };
  /** Runs the command line with a token. */
  const runWith = (token: string, args: readonly string[], at = allocator): Promise<CommandResult> =>
    runIpledger([...args, '--token-file', tokenFile(token)], {
      allocator: at,
      env: { IPLEDGER_TLS_CA: certificates.watcher.ca },
    });
  const reserve = (address: string): string[] => [
    'reserve',
    '--subnet',
    'lan',
    address,
    '--for',
    'vip/web',
    '--reason',
    'a test',
  ];
  const actorsOf = async (address: string): Promise<string[]> => {
    const { stdout } = await runIpledger(['history', address, '-o', 'json'], {
      allocator,
      tls: certificates.operator('test'),
    });
    return (JSON.parse(stdout) as { events: { actor: string }[] }).events.map(({ actor }) => actor);
  };

  it('an operator reserves an address, and the event names the user', async () => {
    const token = await createToken(cluster, 'alice');
    expect(await runWith(token, reserve('10.9.0.20'))).to.deep.include({ code: 0, stderr: '' });
    expect(await actorsOf('10.9.0.20')).to.deep.equal(['kubernetes:system:serviceaccount:people:alice']);
  });

  it('a token for the ledger alone is accepted, and a token for another service is rejected', async () => {
    const own = await createToken(cluster, 'alice', 'ipledger');
    expect(await runWith(own, reserve('10.9.0.21'))).to.deep.include({ code: 0 });
    expect(await actorsOf('10.9.0.21')).to.deep.equal(['kubernetes:system:serviceaccount:people:alice']);
    const other = await createToken(cluster, 'alice', 'vault');
    expect((await runWith(other, ['subnets'])).stderr).to.contain('the token is rejected');
  });

  it('a reader queries the ledger, and a change is denied with the missing rule', async () => {
    const token = await createToken(cluster, 'bob');
    const subnets = await runWith(token, ['subnets']);
    expect(subnets).to.deep.include({ code: 0, stderr: '' });
    expect(subnets.stdout).to.contain('10.9.0.0/24');
    const denied = await runWith(token, ['quarantine', '10.9.0.30', '--subnet', 'lan', '--reason', 'a test']);
    expect(denied.code).to.equal(1);
    expect(denied.stderr).to.contain(
      'kubernetes:system:serviceaccount:people:bob may not quarantine addresses.ipledger.io: a ClusterRole with apiGroups [ipledger.io], resources [addresses] and verbs [quarantine]',
    );
    expect(await actorsOf('10.9.0.30')).to.deep.equal([]);
  });

  it('a user without a role is denied everything until a role is bound to the user', async () => {
    const token = await createToken(cluster, 'carol');
    expect((await runWith(token, ['status'])).stderr).to.contain('may not get ledger.ipledger.io');
    await createPerson(cluster, 'carol', ['ipledger-reader']);
    // Uses another permission than the one whose denial is cached.
    await eventually(async () => expect(await runWith(token, ['subnets'])).to.deep.include({ code: 0 }), 60_000);
  });

  it('a user cannot forward for another identity', async () => {
    const file = tokenFile(await createToken(cluster, 'alice'));
    const tls = tokenTlsFromEnvironment({ IPLEDGER_TLS_CA: certificates.watcher.ca }, file, undefined);
    const connection = connect(allocator.endpoint, tls);
    for (const actor of ['kubernetes:admin', 'ipledger://operator/test']) {
      const metadata = new Metadata();
      metadata.set(onBehalfOfKey, actor);
      const error = await call(connection, LedgerService.getStatus, {}, { timeoutMs, metadata }).catch(
        (thrown: unknown) => IpledgerError.from(thrown),
      );
      expect(error).to.include({ code: 'PERMISSION_DENIED' });
    }
    connection.close();
  });

  it("a token of the agents' ServiceAccount is not accepted as a user’s, also when a role is bound to it", async () => {
    const account = 'ipledger-node-agent';
    const binding = ['create', 'clusterrolebinding', 'agents', '--clusterrole=ipledger-operator'];
    await cluster.kubectl([...binding, `--serviceaccount=${installed}:${account}`]);
    const create = async (...flags: string[]): Promise<string> =>
      (await cluster.kubectl(['create', 'token', account, '-n', installed, ...flags])).trim();
    expect((await runWith(await create(), ['status'])).stderr).to.contain("of the node agents' ServiceAccount");
    expect((await runWith(await create('--audience=ipledger'), ['status'])).stderr).to.contain('bound to no Pod');
  });

  it('a standby verifies and authorizes a user, and the writer records the user', async () => {
    const tls = certificates.allocator('second');
    const second = await startAllocator(run, { etcd, name: 'second', tls, tokenReview });
    expect(await runWith(await createToken(cluster, 'alice'), reserve('10.9.0.40'), second)).to.deep.include({
      code: 0,
    });
    expect(await actorsOf('10.9.0.40')).to.deep.equal(['kubernetes:system:serviceaccount:people:alice']);
    const denied = await runWith(await createToken(cluster, 'bob'), reserve('10.9.0.41'), second);
    expect(denied.stderr).to.contain('may not create reservations.ipledger.io');
    await second.stop();
  });

  describe('in a kubeconfig that an allocator cannot verify', () => {
    const runByKubeconfig = async (kubeconfig: string, ...args: string[]): Promise<string> => {
      const env = { IPLEDGER_ENDPOINT: 'kubernetes' };
      const { code, stderr } = await runIpledger(['status', '--kubeconfig', kubeconfig, ...args], { env });
      expect(code).to.equal(2);
      return stderr;
    };

    it('a kubeconfig with a client certificate is refused, with the alternatives', async () => {
      const kubeconfig = await cluster.kubeconfigFor('dave');
      expect(await runByKubeconfig(kubeconfig)).to.match(
        /client certificate and no token.*--service-account NAME.*--token-file.*IPLEDGER_TLS_CERT/,
      );
    });

    it('a kubeconfig with impersonation is refused', async () => {
      const token = await createToken(cluster, 'alice');
      const file = join(run.folder, 'as.kubeconfig');
      const kubeconfig = writeUserKubeconfig(cluster, file, { token, as: 'root' });
      expect(await runByKubeconfig(kubeconfig)).to.contain('impersonates another user');
      expect(await runByKubeconfig(kubeconfig, '--as', 'root')).to.contain('cannot verify impersonation');
    });

    it('an unknown context of a kubeconfig is refused, with the names of the contexts', async () => {
      expect(await runByKubeconfig(cluster.kubeconfig, '--context', 'nowhere')).to.contain(
        'the kubeconfig has no context nowhere: it has ipledger',
      );
    });
  });

  it('the log of the allocator contains no token', () => {
    const log = readFileSync(allocator.log, 'utf8');
    expect(log).to.contain('people may identify by Kubernetes tokens').and.to.contain('a call was rejected');
    expect(log).not.to.match(/eyJ[\w-]+\.|Bearer/);
  });
});
