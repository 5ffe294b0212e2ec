/** Starts stubs of allocator and Kubernetes API, and the agent as a process; runs the plugin. */
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
import { errorCodeMetadata, IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import {
  type Allocation,
  type AttachRequest,
  type BindRequest,
  IpamService,
  type ListBindingsReply,
  type UnbindRequest,
  type WaitRequest,
} from '../../../proto/generated/ipledger.ts';

const root = new URL('../../../', import.meta.url).pathname;
const agentProgram = join(root, 'services/node-agent/main.ts');

/** The plugin's binary. */
export const pluginBinary = join(root, '.cache/dist/kube-ovn');

/** Builds the plugin if it is missing or older than its sources. */
export function buildPlugin(): void {
  const sources = readdirSync(join(root, 'cni')).filter((name) => /\.go$|^go\.(mod|sum)$/.test(name));
  const builtAt = existsSync(pluginBinary) ? statSync(pluginBinary).mtimeMs : 0;
  if (sources.every((name) => statSync(join(root, 'cni', name)).mtimeMs <= builtAt)) return;
  execFileSync('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', pluginBinary, '.'], {
    cwd: join(root, 'cni'),
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: 'inherit',
  });
}

const allocation: MessageInput<Allocation> = {
  seq: 7,
  subnet: 'macvlan',
  addresses: [
    { address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' },
    { address: 'fd00::b', cidr: 'fd00::/64', gateway: 'fd00::1' },
  ],
};

/** An allocator on real gRPC that records its requests. */
export class StubAllocatorServer {
  /** Attaches at their arrival. */
  readonly attaches: AttachRequest[] = [];
  readonly waits: WaitRequest[] = [];
  /** Binds, and Attaches after their wait. */
  readonly binds: (AttachRequest | BindRequest)[] = [];
  readonly unbinds: UnbindRequest[] = [];
  /** An error with which every request fails, if set. */
  error: IpledgerError | undefined;
  /** The allocation in the replies to Attach, Wait and Bind. */
  allocate: (request: AttachRequest | WaitRequest | BindRequest) => MessageInput<Allocation> = () => allocation;
  /** The reply to ListBindings. */
  listed: MessageInput<ListBindingsReply> = {};
  /** A Wait replies, and an Attach binds, when this resolves. */
  waitBarrier: Promise<void> = Promise.resolve();
  /** Whether the allocator serves Attach, which earlier versions do not. */
  hasAttach = true;
  readonly #server = new Server();

  constructor() {
    const implementation: UntypedServiceImplementation = {};
    for (const name of Object.keys(IpamService)) implementation[name] = this.#unary(() => Promise.resolve({}));
    implementation['attach'] = this.#unary(async (request, call) => {
      if (!this.hasAttach)
        throw new IpledgerError('NOT_IMPLEMENTED', 'The server does not implement the method Attach');
      this.attaches.push(request as AttachRequest);
      await this.waitBarrier;
      if (call.cancelled) return {};
      this.binds.push(request as AttachRequest);
      return { allocation: this.allocate(request as AttachRequest) };
    });
    implementation['wait'] = this.#unary(async (request) => {
      this.waits.push(request as WaitRequest);
      await this.waitBarrier;
      return { allocation: this.allocate(request as WaitRequest) };
    });
    implementation['listBindings'] = this.#unary(() => Promise.resolve(this.listed));
    implementation['bind'] = this.#unary((request) => {
      this.binds.push(request as BindRequest);
      return Promise.resolve({ allocation: this.allocate(request as BindRequest) });
    });
    implementation['unbind'] = this.#unary((request) => {
      this.unbinds.push(request as UnbindRequest);
      return Promise.resolve({ unbound: 1 });
    });
    this.#server.addService(IpamService, implementation);
  }

  #unary(handle: (request: unknown, call: ServerUnaryCall<unknown, unknown>) => Promise<object>) {
    return (call: ServerUnaryCall<unknown, unknown>, reply: sendUnaryData<unknown>): void => {
      if (this.error) return reply(serviceError(this.error));
      handle(call.request, call).then(
        (message) => reply(null, message),
        (error: unknown) => reply(serviceError(IpledgerError.from(error))),
      );
    };
  }

  /** @param address the gRPC endpoint; `unix:/path` for a unix socket */
  async listen(address = '127.0.0.1:0'): Promise<string> {
    const bind = this.#server.bindAsync.bind(this.#server);
    const port = await new Promise<number>((resolve, reject) => {
      bind(address, ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    return address.startsWith('unix:') ? address : `127.0.0.1:${port}`;
  }

  close(): void {
    this.#server.forceShutdown();
  }
}

function serviceError({ code, grpcStatus, message }: IpledgerError) {
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, code);
  return { code: grpcStatus, details: message, metadata };
}

/** Starts a Kubernetes API that has only Pod default/p, and writes its kubeconfig. */
export async function startStubKubernetes(kubeconfig: string): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const exists = request.url === '/api/v1/namespaces/default/pods/p';
    response.writeHead(exists ? 200 : 404).end(exists ? '{"metadata":{"uid":"uid-of-the-api"}}' : '{}');
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

/** Starts an agent. The caller must read its stderr. */
export function spawnAgent(env: Record<string, string>) {
  return spawn(process.execPath, [agentProgram], {
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
}

/** Starts an agent. Resolves when the agent logs that it is ready. */
export async function startAgent(env: Record<string, string>): Promise<ChildProcess> {
  const agent = spawnAgent(env);
  for await (const line of createInterface({ input: agent.stderr })) if (line.includes('"msg":"ready"')) break;
  agent.stderr.resume();
  return agent;
}

/** Stops an agent. Resolves when its process has exited. */
export async function stopAgent(agent: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null) return;
  const exited = once(agent, 'exit');
  agent.kill(signal);
  await exited;
}

/** Starts the plugin as a runtime does. Variables default to those of Pod default/p. */
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

/** The outcome of a run of the plugin. */
export interface PluginOutcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** The plugin's stdout as JSON; {} if it is empty. */
  readonly json: Record<string, unknown>;
}

/** Runs the plugin and waits for its exit. */
export async function runPlugin(plugin: string, config: object, env: Record<string, string>): Promise<PluginOutcome> {
  const child = spawnPlugin(plugin, config, env);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, stdout, json: stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>) };
}

/** Polls until `condition` is true, or the test times out. */
export async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}
