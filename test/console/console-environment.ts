/**
 * A ledger with its read model and a console, with TLS, and a person who may read and change it.
 */
import { join } from 'node:path';
import { connect, type Connection } from '../../lib/grpc/client.ts';
import { loadTls } from '../../lib/tls/credentials.ts';
import { applyChartRoles, createPerson, createToken, installed } from '../e2e/support/people.ts';
import { certificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { startEtcd } from '../harness/etcd.ts';
import { startCluster } from '../harness/kubernetes/cluster.ts';
import type { Server } from '../harness/processes/server.ts';
import type { Run } from '../harness/run.ts';
import { startAllocator, startReadModel } from '../harness/services.ts';
import { type ConsoleServer, startConsole } from '../harness/console.ts';
import { fillLedger } from './console-ledger.ts';

export interface ConsoleEnvironment {
  readonly url: string;
  /** The token of the person, and the name in events. */
  readonly token: string;
  readonly user: string;
  /** The allocator, as an operator. */
  readonly connection: Connection;
  readonly allocator: Server;
  readonly readModel: Server;
  readonly console: ConsoleServer;
}

export async function openConsoleEnvironment(run: Run): Promise<ConsoleEnvironment> {
  const folder = join(run.folder, 'certificates');
  await makeCertificates({ folder, allocators: ['allocator'], nodes: ['node-1'], operators: ['test'] });
  const certificates = certificateFolder(folder);
  const [cluster, etcd] = await Promise.all([
    startCluster(run, { nodes: [], controllers: false, crds: false }),
    startEtcd(run),
  ]);
  await applyChartRoles(cluster);
  const user = await createPerson(cluster, 'alice', ['ipledger-operator']);
  const kubeconfig = await cluster.kubeconfigFor(`system:serviceaccount:${installed}:ipledger-allocator`);
  const tokenReview = { kubeconfig, account: `${installed}/ipledger-node-agent`, users: true };
  const allocator = await startAllocator(run, { etcd, tls: certificates.allocator('allocator'), tokenReview });
  const [connection, agent] = [certificates.operator('test'), certificates.agent('node-1')].map((tls) => {
    const each = connect(allocator.endpoint, loadTls(tls));
    run.onEnd(() => each.close());
    return each;
  }) as [Connection, Connection];
  const [readModel, token] = await Promise.all([
    startReadModel(run, { allocator, tls: certificates.readModel }),
    createToken(cluster, 'alice'),
    fillLedger({ operator: connection, agent }),
  ]);
  const server = await startConsole(run, {
    allocator,
    readModel,
    tls: certificates.viewer,
    https: certificates.readModel,
  });
  return { console: server, url: server.url, token, user: `kubernetes:${user}`, connection, allocator, readModel };
}
