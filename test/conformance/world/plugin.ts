/** The project's plugin, run against a played daemon that records what it is asked and answers what it is told to. */
import { mkdirSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { callPlugin, type CniCommand, kubeOvnPlugin } from '../../harness/cni.ts';
import type { Run } from '../../harness/run.ts';
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../json.ts';

/** What the played daemon says. */
export interface DaemonAnswer {
  readonly status: number;
  /** undefined for an empty body. */
  readonly body: Json | undefined;
}

export interface PluginCall {
  /** stdin: a configuration, or a text that is none. */
  readonly config: Json;
  /** CNI_… and whatever else the environment holds. */
  readonly env: Readonly<Record<string, string>>;
  /** undefined: nobody listens. */
  readonly answer: ((path: string) => DaemonAnswer) | undefined;
}

export interface PluginSeen {
  readonly exit: number;
  /** What it printed, as JSON; undefined for nothing. */
  readonly printed: Json | undefined;
  /** What the daemon was asked, in order. */
  readonly requests: readonly { readonly socket: string; readonly path: string; readonly body: Json }[];
}

let calls = 0;

/**
 * Runs the plugin. The sockets that the configuration names are listened on elsewhere, each at a place of its own: they belong to
 * the machine. In what is seen they have the names that the configuration gave them.
 */
export async function runPlugin(run: Run, { config, env, answer }: PluginCall): Promise<PluginSeen> {
  const folder = join(run.folder, `plugin-${(calls += 1)}`);
  mkdirSync(folder);
  const sockets = new Map<string, string>();
  const elsewhere = relocated(config, folder, sockets);
  const requests: { socket: string; path: string; body: Json }[] = [];
  const servers = await Promise.all(
    [...(answer ? sockets : [])].map(([socket, path]) =>
      listen(path, (asked, body) => {
        requests.push({ socket, path: asked, body });
        return (answer as NonNullable<typeof answer>)(asked);
      }),
    ),
  );
  try {
    const { code, result } = await callPlugin({
      command: (env['CNI_COMMAND'] ?? '') as CniCommand,
      plugin: kubeOvnPlugin,
      config: isFields(elsewhere) ? elsewhere : textOf(elsewhere),
      env: { ...env },
      journal: join(folder, 'journal'),
    });
    return { exit: code, printed: result as Json | undefined, requests };
  } finally {
    for (const server of servers) server.close();
  }
}

function relocated(config: Json, folder: string, sockets: Map<string, string>): Json {
  if (!isFields(config)) return config;
  const moved = (part: Fields): Fields => {
    const socket = textOf(part['server_socket']);
    if (socket === '') return part;
    const path = sockets.get(socket) ?? join(folder, `${sockets.size}.sock`);
    sockets.set(socket, path);
    return { ...part, server_socket: path };
  };
  const top = moved(config);
  return isFields(top['ipam']) ? { ...top, ipam: moved(fieldsOf(top['ipam'])) } : top;
}

async function listen(path: string, answer: (asked: string, body: Json) => DaemonAnswer): Promise<Server> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { status, body } = answer(request.url ?? '', parsed(text));
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(body === undefined ? '' : JSON.stringify(body));
    });
  });
  server.listen(path);
  await once(server, 'listening');
  return server;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** CNI_… as a runtime sets it for net1 of the Pod default/p. */
export const usualEnvironment: Readonly<Record<string, string>> = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/ns',
  CNI_IFNAME: 'net1',
  CNI_ARGS: 'K8S_POD_NAMESPACE=default;K8S_POD_NAME=p',
};

/** What a daemon answers that has nothing special to say. */
export const content = (path: string): DaemonAnswer =>
  path === '/api/v1/add'
    ? { status: 200, body: { ips: [{ protocol: 'IPv4', ip: '172.17.0.11', cidr: '172.17.0.0/16' }], routes: null } }
    : { status: 204, body: undefined };
