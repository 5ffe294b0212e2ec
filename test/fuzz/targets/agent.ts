/** The inputs of the node agent: its socket, files of its folders, and the links of the node. */
import { duplexPair } from 'node:stream';
import * as z from 'zod';
import { parseBindingFile } from '../../../lib/binding-file.ts';
import { errorMessage } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { parseTraceparent } from '../../../lib/tracing/trace-context.ts';
import { createDaemonServer } from '../../../services/node-agent/daemon/daemon-server.ts';
import { parsePluginRequest, type Verb, verbs } from '../../../services/node-agent/daemon/plugin-request.ts';
import { parsePendingDel } from '../../../services/node-agent/requests/pending-del-replay.ts';
import { parseNodeLinks } from '../../../services/node-agent/underlay/node-links.ts';
import { parseProviderNetwork } from '../../../services/node-agent/underlay/provider-network.ts';
import { parseMappings } from '../../../services/node-agent/underlay/underlay-plan.ts';
import { FuzzFailure, type FuzzTarget } from '../fuzz-target.ts';

const request = {
  cni_type: 'macvlan',
  pod_name: 'web-0',
  pod_namespace: 'default',
  container_id: 'c1',
  net_ns: '/var/run/netns/cni-1',
  if_name: 'net1',
  provider: 'macvlan.default.ovn.net1',
  routes: [{ dst: '10.0.0.0/8', gw: '10.0.0.1' }],
  dns: { nameservers: ['10.0.0.2'] },
  vf_driver: '',
  pod_uid: 'u-1',
  nfn_network: 'ovn-priv-net',
  takes_gateway: true,
};

const bodies: Readonly<Record<Verb, object>> = {
  add: request,
  del: request,
  check: { ...request, addresses: ['10.0.0.7/24', 'fd00::7/64'] },
  gc: { cni_type: 'macvlan', provider: 'macvlan.default', attachments: [{ container_id: 'c1', if_name: 'net1' }] },
  status: { cni_type: 'macvlan', provider: 'macvlan.default' },
};

const json = (value: unknown): string => JSON.stringify(value);

const httpRequest = (verb: Verb): string => {
  const body = json(bodies[verb]);
  const headers = ['host: x', 'content-type: application/json', 'accept: */*', `content-length: ${body.length}`];
  return [`POST /api/v1/${verb} HTTP/1.1`, ...headers, '', body].join('\r\n');
};

const neverLogsBugs = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (details: { readonly err?: unknown }) => {
    bugs.push(details.err);
  },
} as unknown as Logger;
const bugs: unknown[] = [];
const daemon = createDaemonServer(() => Promise.resolve('{}'), neverLogsBugs);
daemon.server.on('clientError', (_error, socket) => socket.destroy());

/** Sends bytes on a connection of the socket, and waits until the agent has closed it. */
async function sendToDaemon(input: Buffer): Promise<number> {
  const [client, server] = duplexPair();
  const closed = new Promise((resolve) => client.once('close', resolve));
  let bytes = 0;
  client.on('data', (chunk: Buffer) => (bytes += chunk.length));
  client.on('error', () => undefined);
  server.on('error', () => undefined);
  client.once('end', () => client.destroy());
  daemon.server.emit('connection', server);
  client.end(input);
  await closed;
  const bug = bugs.pop();
  if (bug !== undefined)
    throw new FuzzFailure(`the agent logged an error of its own: ${errorMessage(bug)}`, { cause: bug });
  return bytes;
}

const binding = {
  version: 1,
  namespace: 'default',
  pod: 'web-0',
  podUid: 'u-1',
  provider: 'macvlan.default',
  containerId: 'c1',
  interface: 'net1',
  node: 'node-1',
  bootId: 'boot-1',
  addresses: ['10.0.0.7'],
  netns: '/var/run/netns/cni-1',
  netnsFolder: '8:1',
  boundAs: '',
  isDeleted: false,
  isPending: true,
  epoch: 1,
};

const providerNetwork = {
  metadata: { name: 'net1' },
  spec: {
    defaultInterface: 'eth1',
    customInterfaces: [{ interface: 'eth2', nodes: ['node-1'] }],
    excludeNodes: ['node-3'],
    exchangeLinkName: false,
  },
};

const links = [
  {
    ifname: 'eth0',
    flags: ['UP', 'LOWER_UP'],
    master: 'br0',
    link: 'eth1',
    addr_info: [{ family: 'inet', local: '10.0.0.5', scope: 'global' }],
  },
];

export const agentTargets: readonly FuzzTarget[] = [
  ...verbs.map((verb): FuzzTarget => ({
    name: `agent/${verb}`,
    format: 'json',
    maxBytes: 64 << 10,
    seeds: () => [json(bodies[verb]), ''],
    decode: (input) => parsePluginRequest(verb, input.toString()),
  })),
  {
    name: 'agent/http',
    format: 'bytes',
    maxBytes: 64 << 10,
    seeds: () => [...verbs.map(httpRequest), httpRequest('add') + httpRequest('del')],
    decode: sendToDaemon,
  },
  {
    name: 'agent/pending-del',
    format: 'json',
    maxBytes: 64 << 10,
    seeds: () => [json({ server_socket: '/run/agent.sock', request }), json({ server_socket: '/x', request: {} })],
    decode: (input) => parsePendingDel(input.toString(), ['/run/agent.sock']),
    rejections: [z.ZodError, SyntaxError],
  },
  {
    name: 'agent/binding-file',
    format: 'json',
    maxBytes: 16 << 10,
    seeds: () => [json(binding)],
    decode: (input) => parseBindingFile('c1@net1.json', input.toString()),
    rejections: [z.ZodError, SyntaxError, Error],
  },
  {
    name: 'agent/provider-network',
    format: 'json',
    maxBytes: 64 << 10,
    seeds: () => [json(providerNetwork)],
    decode: (input) => parseProviderNetwork(JSON.parse(input.toString()), 'node-1'),
    rejections: [SyntaxError],
  },
  {
    name: 'agent/node-links',
    format: 'json',
    maxBytes: 64 << 10,
    seeds: () => [json(links)],
    decode: (input) => parseNodeLinks(input.toString()),
    rejections: [SyntaxError],
  },
  {
    name: 'agent/bridge-mappings',
    format: 'text',
    maxBytes: 4 << 10,
    seeds: () => ['net1:br-net1,net2:br-net2'],
    decode: (input) => parseMappings(input.toString()),
  },
  {
    name: 'agent/traceparent',
    format: 'text',
    maxBytes: 1 << 10,
    seeds: () => ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
    decode: (input) => parseTraceparent(input.toString()),
  },
];
