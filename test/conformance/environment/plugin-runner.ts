/** Runs the plugin with a stub daemon that records the requests. */
import { mkdirSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { callPlugin, type CniCommand, kubeOvnPlugin } from '../../harness/cni.ts';
import type { Run } from '../../harness/run.ts';
import { type Fields, fieldsOf, isFields, type Json, textOf } from '../../harness/json.ts';

/** The response of the stub daemon. */
export interface DaemonResponse {
  readonly status: number;
  /** The body; undefined for an empty body. */
  readonly body: Json | undefined;
}

export interface PluginCall {
  /** The text for stdin: a configuration, or any text. */
  readonly config: Json;
  /** CNI_… and other variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Answers as the daemon; undefined if no daemon listens. */
  readonly respond: ((path: string) => DaemonResponse) | undefined;
}

export interface PluginOutcome {
  readonly exit: number;
  /** The plugin's stdout as JSON; undefined if empty. */
  readonly printed: Json | undefined;
  /** The requests to the daemon, in order. */
  readonly requests: readonly { readonly socket: string; readonly path: string; readonly body: Json }[];
}

let calls = 0;

/**
 * Runs the plugin. The stub daemon listens on other paths than the configuration's sockets, which
 * belong to the machine; the outcome has the configuration's paths.
 */
export async function runPlugin(run: Run, { config, env, respond }: PluginCall): Promise<PluginOutcome> {
  const folder = join(run.folder, `plugin-${(calls += 1)}`);
  mkdirSync(folder);
  const sockets = new Map<string, string>();
  const relocated = relocateSockets(config, folder, sockets);
  const requests: { socket: string; path: string; body: Json }[] = [];
  const servers = await Promise.all(
    [...(respond ? sockets : [])].map(([socket, path]) =>
      listen(path, (requestPath, body) => {
        requests.push({ socket, path: requestPath, body });
        return (respond as NonNullable<typeof respond>)(requestPath);
      }),
    ),
  );
  try {
    const { code, result } = await callPlugin({
      command: (env['CNI_COMMAND'] ?? '') as CniCommand,
      plugin: kubeOvnPlugin,
      config: isFields(relocated) ? relocated : textOf(relocated),
      env: { ...env },
      pendingDels: join(folder, 'pending-dels'),
    });
    return { exit: code, printed: result as Json | undefined, requests };
  } finally {
    for (const server of servers) server.close();
  }
}

function relocateSockets(config: Json, folder: string, sockets: Map<string, string>): Json {
  if (!isFields(config)) return config;
  const relocate = (part: Fields): Fields => {
    const socket = textOf(part['server_socket']);
    if (socket === '') return part;
    const path = sockets.get(socket) ?? join(folder, `${sockets.size}.sock`);
    sockets.set(socket, path);
    return { ...part, server_socket: path };
  };
  const top = relocate(config);
  return isFields(top['ipam']) ? { ...top, ipam: relocate(fieldsOf(top['ipam'])) } : top;
}

async function listen(path: string, respond: (path: string, body: Json) => DaemonResponse): Promise<Server> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { status, body } = respond(request.url ?? '', parsed(text));
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

/** The variables of a runtime for net1 of Pod default/p. */
export const defaultEnvironment: Readonly<Record<string, string>> = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c1',
  CNI_NETNS: '/ns',
  CNI_IFNAME: 'net1',
  CNI_ARGS: 'K8S_POD_NAMESPACE=default;K8S_POD_NAME=p',
};

/** The response of a daemon on success. */
export const defaultResponse = (path: string): DaemonResponse =>
  path === '/api/v1/add'
    ? { status: 200, body: { ips: [{ protocol: 'IPv4', ip: '172.17.0.11', cidr: '172.17.0.0/16' }], routes: null } }
    : { status: 204, body: undefined };
