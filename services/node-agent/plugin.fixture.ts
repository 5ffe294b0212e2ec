/** For plugin.spec.ts: a played allocator, a played Kubernetes API, the real agent as a process, and the plugin's real binary. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  Metadata,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { errorCodeMetadata, type IpledgerError } from '../../lib/errors.ts';
import type { Input } from '../../proto/codec.ts';
import {
  type Allocation,
  type BindRequest,
  IpamService,
  type UnbindRequest,
  type WaitRequest,
} from '../../proto/ipledger.ts';

const root = new URL('../../', import.meta.url).pathname;
const agentProgram = join(root, 'services/node-agent/main.ts');

/** The plugin's binary. */
export const binary = join(root, '.cache/dist/kube-ovn');

/** Builds the plugin if it is missing or older than its sources. */
export function buildPlugin(): void {
  const sources = readdirSync(join(root, 'cni')).filter((name) => /\.go$|^go\.(mod|sum)$/.test(name));
  const builtAt = existsSync(binary) ? statSync(binary).mtimeMs : 0;
  if (sources.every((name) => statSync(join(root, 'cni', name)).mtimeMs <= builtAt)) return;
  execFileSync('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', binary, '.'], {
    cwd: join(root, 'cni'),
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: 'inherit',
  });
}

const held: Input<Allocation> = {
  seq: 7,
  subnet: 'macvlan',
  addresses: [
    { address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' },
    { address: 'fd00::b', cidr: 'fd00::/64', gateway: 'fd00::1' },
  ],
};

/** What the played allocator was asked, and how it behaves. */
export class PlayedAllocator {
  readonly waits: WaitRequest[] = [];
  readonly binds: BindRequest[] = [];
  readonly unbinds: UnbindRequest[] = [];
  fail: IpledgerError | undefined;
  /** While this is pending, Wait is, too. */
  gate: Promise<void> = Promise.resolve();
  readonly #server = new Server();

  constructor() {
    const implementation: UntypedServiceImplementation = {};
    for (const name of Object.keys(IpamService)) implementation[name] = this.#unary(() => Promise.resolve({}));
    implementation['wait'] = this.#unary(async (request) => {
      this.waits.push(request as WaitRequest);
      await this.gate;
      return { allocation: held };
    });
    implementation['bind'] = this.#unary((request) => {
      this.binds.push(request as BindRequest);
      return Promise.resolve({ allocation: held });
    });
    implementation['unbind'] = this.#unary((request) => {
      this.unbinds.push(request as UnbindRequest);
      return Promise.resolve({ unbound: 1 });
    });
    this.#server.addService(IpamService, implementation);
  }

  #unary(answer: (request: unknown) => Promise<object>) {
    return (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>): void => {
      if (this.fail) {
        const metadata = new Metadata();
        metadata.set(errorCodeMetadata, this.fail.code);
        return reply({ code: this.fail.grpcStatus, details: this.fail.message, metadata });
      }
      void answer(call.request).then((message) => reply(null, message));
    };
  }

  async listen(): Promise<string> {
    const bind = this.#server.bindAsync.bind(this.#server);
    const port = await new Promise<number>((resolve, reject) => {
      bind('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    return `127.0.0.1:${port}`;
  }

  close(): void {
    this.#server.forceShutdown();
  }
}

/** Plays a Kubernetes API that has the Pod default/p alone, and writes the kubeconfig that leads to it. */
export async function playKubernetes(kubeconfig: string): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const known = request.url === '/api/v1/namespaces/default/pods/p';
    response.writeHead(known ? 200 : 404).end(known ? '{"metadata":{"uid":"uid-of-the-api"}}' : '{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return server;
}

/** Starts an agent; its stderr is the caller's to read. */
export function spawnAgent(env: Record<string, string>) {
  return spawn(process.execPath, [agentProgram], {
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
}

/** Starts an agent; resolves when it says that it is ready. */
export async function startAgent(env: Record<string, string>): Promise<ChildProcess> {
  const agent = spawnAgent(env);
  for await (const line of createInterface({ input: agent.stderr })) if (line.includes('"msg":"ready"')) break;
  agent.stderr.resume();
  return agent;
}

/** Resolves when the agent has ended, at once if it had already. */
export async function stopAgent(agent: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null) return;
  const exited = once(agent, 'exit');
  agent.kill(signal);
  await exited;
}

/** Starts the plugin as a runtime does; whatever is not in `env` is as for the Pod default/p. */
export function spawnPlugin(plugin: string, config: object, env: Record<string, string>) {
  const child = spawn(plugin, [], {
    env: {
      CNI_CONTAINERID: 'c1',
      CNI_NETNS: '/ns',
      CNI_IFNAME: 'net1',
      CNI_PATH: '/opt/cni/bin',
      CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=p;K8S_POD_UID=u-1',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(config));
  return child;
}

/** How a run of the plugin ended. */
export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** What it printed; {} for nothing. */
  readonly json: Record<string, unknown>;
}

/** Runs the plugin to its end. */
export async function runPlugin(plugin: string, config: object, env: Record<string, string>): Promise<Outcome> {
  const child = spawnPlugin(plugin, config, env);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, stdout, json: stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>) };
}

/** Polls until something is so; the suite's timeout ends it. */
export async function until(so: () => boolean): Promise<void> {
  while (!so()) await new Promise((resolve) => setTimeout(resolve, 10));
}
