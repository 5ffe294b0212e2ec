/**
 * Starts two OVN nodes with one agent each, as processes in the network namespaces of the nodes.
 * Allocator and Kubernetes API are stubs on unix sockets, and ovn-nbctl makes the logical ports, so
 * that the agent is tested alone.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { pino } from 'pino';
import type { MessageInput } from '../../../../proto/codec.ts';
import type { Allocation } from '../../../../proto/generated/ipledger.ts';
import { createNamespace, type Namespace } from '../../../../test/harness/network/network-namespaces.ts';
import { forwardPort } from '../../../../test/harness/node/port-forward.ts';
import { type OvnCentral, startOvnCentral } from '../../../../test/harness/ovn/ovn-central.ts';
import { type OvnNode, startOvnNode } from '../../../../test/harness/ovn/ovn-node.ts';
import { pathWithEthtool } from '../../../../test/harness/ovn/ovn-programs.ts';
import { type Server, startServer } from '../../../../test/harness/processes/server.ts';
import type { Run } from '../../../../test/harness/run.ts';
import { agentLaunch } from '../../../../test/harness/services.ts';
import { OvsDatabase } from '../../ovs/ovs-database.ts';
import { pluginBinary, type PluginOutcome, runPlugin, StubAllocatorServer } from '../../testing/plugin.fixture.ts';

export const provider = 'lan.default.ovn';
export const gateways = ['172.17.0.1', 'fd17::1'] as const;
const ports = { allocator: 7001, kubernetes: 7002, health: 7003 };

export interface AgentNode extends OvnNode {
  readonly agent: Server;
  readonly socket: string;
  /** The test's own connection to the node's database. */
  readonly ovs: OvsDatabase;
}

export interface OvnCluster {
  readonly central: OvnCentral;
  readonly nodes: readonly [AgentNode, AgentNode];
  readonly allocator: StubAllocatorServer;
  /** The objects that the Kubernetes API serves, by path. */
  readonly objects: Map<string, object>;
}

/** A Pod with its sandbox, its allocation and its object in Kubernetes. */
export interface TestPod {
  readonly name: string;
  readonly sandbox: Namespace;
  readonly containerId: string;
  readonly logicalPort: string;
  readonly mac: string;
  readonly addresses: readonly [string, string];
}

/**
 * Starts both nodes. The second node's chassis has another name than the node: OVN finds it by
 * hostname.
 */
export async function startOvnCluster(run: Run): Promise<OvnCluster> {
  const central = await startOvnCentral(run);
  const network = [
    ['ls-add', 'lan'],
    ['lr-add', 'router'],
    [
      'lrp-add',
      'router',
      'router-lan',
      '02:00:00:00:00:01',
      ...gateways.map((gateway) => `${gateway}/${lengthOf(gateway)}`),
    ],
    ['lsp-add', 'lan', 'lan-router'],
    ['lsp-set-type', 'lan-router', 'router'],
    ['lsp-set-addresses', 'lan-router', 'router'],
    ['lsp-set-options', 'lan-router', 'router-port=router-lan'],
  ];
  await central.nbctl(network.flatMap((command) => ['--', ...command]).slice(1));
  const allocator = new StubAllocatorServer();
  const sockets = { allocator: join(run.folder, 'allocator.sock'), kubernetes: join(run.folder, 'kubernetes.sock') };
  await allocator.listen(`unix:${sockets.allocator}`);
  run.onEnd(() => allocator.close());
  const objects = new Map<string, object>([
    ['/apis/kubeovn.io/v1/subnets/lan', { spec: { cidrBlock: '172.17.0.0/24,fd17::/64', provider } }],
  ]);
  await serveObjects(run, objects, sockets.kubernetes);
  const start = async (number: number, systemId?: string): Promise<AgentNode> => {
    const node = await startOvnNode(run, { number, central, ...(systemId !== undefined && { systemId }) });
    const log = pino({ level: 'silent' });
    const ovs = new OvsDatabase({ endpoint: node.database.unix, log, signal: run.signal });
    return { ...node, ...(await startAgent(run, node, sockets)), ovs };
  };
  const nodes = await Promise.all([start(1), start(2, 'chassis-two')]);
  return { central, nodes, allocator, objects };
}

async function serveObjects(run: Run, objects: ReadonlyMap<string, object>, socket: string): Promise<void> {
  const server = createServer((request, response) => {
    const object = objects.get(request.url ?? '');
    response.writeHead(object ? 200 : 404).end(JSON.stringify(object ?? {}));
  }).listen(socket);
  await once(server, 'listening');
  run.onEnd(() => {
    server.close().closeAllConnections();
  });
}

async function startAgent(
  run: Run,
  node: OvnNode,
  sockets: { readonly allocator: string; readonly kubernetes: string },
): Promise<Pick<AgentNode, 'agent' | 'socket'>> {
  const folder = join(run.folder, `agent-${node.name}`);
  mkdirSync(folder);
  const inNode = (program: string, args: readonly string[]) => ({
    program: 'ip',
    // Runs the program in the node's namespace, whose links `ip netns exec` also shows in /sys.
    args: ['netns', 'exec', node.namespace.name, program, ...args],
  });
  for (const name of ['allocator', 'kubernetes'] as const) {
    const forward = await forwardPort(node.namespace, ports[name], { target: `unix:${sockets[name]}` });
    run.onEnd(() => forward.close());
  }
  const socket = join(folder, 'agent.sock');
  const launch = agentLaunch({
    name: `agent-${node.name}`,
    allocator: `127.0.0.1:${ports.allocator}`,
    kubeconfig: writeKubeconfig(folder),
    healthListen: `127.0.0.1:${ports.health}`,
    node: node.name,
    sockets: [socket],
    pendingDels: join(folder, 'pending'),
    bindings: join(folder, 'bindings'),
    tls: undefined,
  });
  const agent = await startServer(run, {
    ...launch,
    ...inNode(launch.program, launch.args),
    env: { ...launch.env, IPLEDGER_OVS_DB: node.database.unix, PATH: pathWithEthtool() },
  });
  return { agent, socket };
}

function writeKubeconfig(folder: string): string {
  const file = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'c', cluster: { server: `http://127.0.0.1:${ports.kubernetes}`, 'insecure-skip-tls-verify': true } },
    ],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const lengthOf = (address: string): number => (address.includes(':') ? 64 : 24);

let count = 0;

/**
 * Makes a Pod: its sandbox, its object in Kubernetes, its allocation in the stub allocator, and its
 * logical port.
 * @param chassis `requested-chassis` of the logical port; undefined: there is no logical port
 */
export async function makePod(
  run: Run,
  { central, allocator, objects }: OvnCluster,
  {
    name,
    chassis,
    annotations = {},
    containerId = `${11 + count}c0ffee${name}`,
    ...changes
  }: {
    readonly name: string;
    readonly chassis: string | undefined;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly containerId?: string;
  } & MessageInput<Allocation>,
): Promise<TestPod> {
  const number = 10 + (count += 1);
  const mac = `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`;
  const addresses = [`172.17.0.${number}`, `fd17::${number.toString(16)}`] as const;
  const logicalPort = `${name}.default.${provider}`;
  objects.set(`/api/v1/namespaces/default/pods/${name}`, { metadata: { uid: `u-${name}`, annotations } });
  if (chassis !== undefined)
    await central.nbctl(
      `lsp-add ${changes.subnet ?? 'lan'} ${logicalPort} -- lsp-set-options ${logicalPort} requested-chassis=${chassis} -- lsp-set-addresses ${logicalPort}`
        .split(' ')
        .concat([mac, ...addresses].join(' ')),
    );
  const allocation: MessageInput<Allocation> = {
    seq: 7,
    attachment: { namespace: 'default', pod: name, provider, ordinal: 0 },
    subnet: 'lan',
    mac,
    addresses: addresses.map((address, index) => ({
      address,
      cidr: index === 0 ? '172.17.0.0/24' : 'fd17::/64',
      gateway: gateways[index] ?? '',
    })),
    bindings: ['net1', 'eth0'].map((interfaceName) => ({ containerId, interface: interfaceName })),
    ...changes,
  };
  const others = allocator.allocate;
  allocator.allocate = (request) => (request.pod === name ? allocation : others(request));
  const sandbox = await createNamespace(run, `pod-${name}`);
  return { name, sandbox, containerId, logicalPort, mac, addresses };
}

/** Makes a logical switch on a physical network, with its Subnet. */
export async function makeUnderlay(
  { central, objects }: OvnCluster,
  { subnet, network, spec }: { readonly subnet: string; readonly network: string; readonly spec: object },
): Promise<void> {
  const port = `localnet.${subnet}`;
  await central.nbctl(
    `ls-add ${subnet} -- lsp-add ${subnet} ${port} -- lsp-set-type ${port} localnet -- lsp-set-addresses ${port} unknown -- lsp-set-options ${port} network_name=${network}`.split(
      ' ',
    ),
  );
  objects.set(`/apis/kubeovn.io/v1/subnets/${subnet}`, { spec: { vlan: subnet, ...spec } });
  objects.set(`/apis/kubeovn.io/v1/vlans/${subnet}`, { spec: { provider: network } });
}

/** Calls the plugin for a Pod on a node, as a runtime does. */
export function callPlugin(
  command: string,
  node: AgentNode,
  pod: TestPod,
  { interface: name = 'net1', conf = {} }: { readonly interface?: string; readonly conf?: object } = {},
): Promise<PluginOutcome> {
  return runPlugin(
    pluginBinary,
    { cniVersion: '1.1.0', name: 'lan', type: 'kube-ovn', server_socket: node.socket, provider, ...conf },
    {
      CNI_COMMAND: command,
      CNI_CONTAINERID: pod.containerId,
      CNI_NETNS: pod.sandbox.path,
      CNI_IFNAME: name,
      CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod.name};K8S_POD_UID=u-${pod.name}`,
    },
  );
}

/** The port of the agent's metrics on the node's loopback address. */
export const healthPort = ports.health;
