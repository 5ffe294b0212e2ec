/**
 * Three allocators that review tokens, and processes with the agents of many nodes, whose Pods are
 * all bound.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { call, connect } from '../../../../lib/grpc/client.ts';
import { connect as connectAgent } from '../../../../lib/grpc/http2/connect.ts';
import { AuthorityReloader } from '../../../../lib/tls/authority-reloader.ts';
import { loadTls } from '../../../../lib/tls/credentials.ts';
import { IpamService, SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { isWriter } from '../../../e2e/support/replica-client.ts';
import { certificateFolder, makeCertificates } from '../../../harness/certificates/certificates.ts';
import { startEtcd } from '../../../harness/etcd.ts';
import { childEnvironment } from '../../../harness/processes/launch.ts';
import type { Run } from '../../../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../../../harness/services.ts';
import { forEachConcurrent } from '../../../scale/for-each-concurrent.ts';
import { measureTime } from '../../measurement.ts';
import { startTokenReviews, tokenOf } from './agent-token.ts';
import type { AgentsCommand, AgentsConfig } from './simulated-agents.ts';

const namespace = 'default';
const subnet = 'lan';
const provider = `${subnet}.default`;
const replicas = ['one', 'two', 'three'];
const concurrentAllocates = 128;
const callMs = 30_000;
/** The most agents of a process: with more, it would measure its own event loop. */
const agentsPerProcess = 2_500;

export interface AgentsEnvironment {
  readonly run: Run;
  readonly allocators: readonly AllocatorServer[];
  findStandby(): Promise<AllocatorServer>;
  /** Ends the first agents and starts them again. Resolves when each has read its data. */
  restartAgents(count: number): Promise<void>;
  /**
   * Binds and unbinds the Pod of another node while `isNeeded`. Resolves to the ms that each bind
   * waited.
   */
  bindWhile(isNeeded: (bound: number) => boolean): Promise<number[]>;
}

export async function openAgentsEnvironment(
  run: Run,
  size: { readonly agents: number; readonly podsPerNode: number },
): Promise<AgentsEnvironment> {
  const folder = join(run.folder, 'certificates');
  await makeCertificates({ folder, allocators: replicas, nodes: [], operators: ['test'] });
  const certificates = certificateFolder(folder);
  const operatorFiles = certificates.operator('test');
  const tokenReview = await startTokenReviews(run, certificates.allocator('one'));
  const etcd = await startEtcd(run);
  const allocators = await Promise.all(
    replicas.map((name) => startAllocator(run, { etcd, name, tls: certificates.allocator(name), tokenReview })),
  );
  const endpoints = allocators.map(({ endpoint }) => endpoint);
  const operator = connect(endpoints.join(), loadTls(operatorFiles));
  run.onEnd(() => operator.close());
  const spec = { provider, cidrBlock: '10.64.0.0/12', gateway: '10.64.0.1', cooldownMs: 0 };
  await call(operator, SubnetsService.applySubnet, { name: subnet, spec }, { timeoutMs: callMs });
  const allocate = (node: string, name: string) => {
    const request = { pod: { namespace, name, uid: name, node }, attachments: [{ provider, subnets: [subnet] }] };
    return call(operator, IpamService.allocate, request, { timeoutMs: callMs });
  };

  const nodes = Array.from({ length: size.agents }, (_, index) => `node-${index}`);
  const pods = nodes.flatMap((node) => Array.from({ length: size.podsPerNode }, (_, index) => [node, index] as const));
  await forEachConcurrent(pods, concurrentAllocates, ([node, index]) => allocate(node, `${node}-pod-${index}`));
  const common = { endpoints, ca: operatorFiles.ca, namespace, provider, podsPerNode: size.podsPerNode };
  const processes: AgentsProcess[] = [];
  for (let first = 0; first < nodes.length; first += agentsPerProcess)
    processes.push(startAgents(run, { ...common, nodes: nodes.slice(first, first + agentsPerProcess) }));
  const execute = (command: AgentsCommand): Promise<unknown> => Promise.all(processes.map((each) => each(command)));
  await execute({ do: 'start' });
  await execute({ do: 'add' });

  const authorities = new AuthorityReloader(operatorFiles.ca);
  let probes = 0;
  return {
    run,
    allocators,
    async findStandby() {
      for (const allocator of allocators) if (!(await isWriter(allocator, operatorFiles))) return allocator;
      throw new Error('each allocator is the writer');
    },
    restartAgents: async (count) => void (await execute({ do: 'restart', count: count / processes.length })),
    async bindWhile(isNeeded) {
      // Another node each time, so that no node uses up its rate.
      const node = `probe-${probes++}`;
      await allocate(node, node);
      const token = tokenOf(node);
      const agent = connectAgent(endpoints.join(), { authorities, token: { read: () => token } });
      const attachOnce = async (containerId: string): Promise<number> => {
        const sandbox = { namespace, pod: node, podUid: node, provider, containerId, interface: 'net1' };
        const request = { ...sandbox, node, bootId: 'this-boot', timeoutMs: callMs };
        const { ms } = await measureTime(() => call(agent, IpamService.attach, request, { timeoutMs: callMs }));
        await call(agent, IpamService.unbind, sandbox, { timeoutMs: callMs });
        return ms;
      };
      await attachOnce('connects');
      const waits: number[] = [];
      while (isNeeded(waits.length)) waits.push(await attachOnce(`container-${waits.length}`));
      agent.close();
      return waits;
    },
  };
}

type AgentsProcess = (command: AgentsCommand) => Promise<void>;

function startAgents(run: Run, config: AgentsConfig): AgentsProcess {
  const child = fork(join(import.meta.dirname, 'simulated-agents.ts'), [JSON.stringify(config)], {
    env: childEnvironment(),
    execArgv: ['--max-old-space-size=4096'],
  });
  run.onEnd(() => void child.kill('SIGKILL'));
  return async (command) => {
    child.send(command);
    const [reply] = (await once(child, 'message')) as [{ readonly error?: string }];
    if (reply.error !== undefined) throw new Error(`the simulated agents cannot ${command.do}: ${reply.error}`);
  };
}
