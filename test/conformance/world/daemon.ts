/** The real agent on its socket, spoken to as Kube-OVN's plugin does. */
import { request as httpRequest } from 'node:http';
import { type Fields, type Json } from '../json.ts';

const timeoutMs = 60_000;

export interface DaemonSaid {
  readonly status: number;
  /** undefined for an empty body; what is no JSON as text. */
  readonly json: Json | undefined;
  readonly seconds: number;
}

export interface Posted {
  readonly socket: string;
  readonly path: string;
  /** Sent as JSON; a text as it is. */
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One POST. @throws Error when nobody answers. */
export function post({ socket, path, body, headers = {} }: Posted): Promise<DaemonSaid> {
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
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
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

/** A request as Kube-OVN's plugin makes it for net1 of the Pod default/p. */
export const usualRequest: Fields = {
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
