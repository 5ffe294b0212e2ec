/** HTTP client of the daemon socket, with requests like those of Kube-OVN's plugin. */
import { request as httpRequest } from 'node:http';
import { type Fields, type Json } from '../../harness/json.ts';

const timeoutMs = 60_000;

export interface DaemonReply {
  readonly status: number;
  /** The body as JSON; undefined for an empty body; the text of a body that is not JSON. */
  readonly json: Json | undefined;
  readonly seconds: number;
}

export interface DaemonRequest {
  readonly socket: string;
  readonly path: string;
  /** The body, sent as JSON; a string is sent unchanged. */
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one POST. @throws Error without a response */
export function postToDaemon({ socket, path, body, headers = {} }: DaemonRequest): Promise<DaemonReply> {
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        socketPath: socket,
        path,
        method: 'POST',
        headers: { host: 'dummy', 'content-type': 'application/json', accept: 'application/json', ...headers },
        timeout: timeoutMs,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          const seconds = (performance.now() - startedAt) / 1_000;
          resolve({ status: response.statusCode ?? 0, json: parsed(text), seconds });
        });
      },
    );
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error(`no response within ${timeoutMs / 1_000} s`)));
    request.end(content);
  });
}

function parsed(text: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The request of Kube-OVN's plugin for net1 of Pod default/p. */
export const defaultRequest: Fields = {
  cni_type: 'macvlan',
  pod_name: 'p',
  pod_namespace: 'default',
  container_id: 'c1',
  net_ns: '/var/run/netns/x',
  if_name: 'net1',
  provider: 'macvlan.default',
  routes: null,
  dns: {},
  vf_driver: '',
  deviceID: '',
  vhost_user_socket_volume_name: '',
  vhost_user_socket_name: '',
  vhost_user_socket_consumption: '',
};
