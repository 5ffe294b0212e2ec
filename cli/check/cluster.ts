/**
 * What the Kubernetes API shows, by plain GETs of the cluster that KUBECONFIG names (else ~/.kube/config, else the one that
 * this runs in). @kubernetes/client-node gives the address and the credentials; its typed lists know no deadline.
 */
import { type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { type RequestOptions, request as httpsRequest } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { Failure } from '../failure.ts';
import type { ClusterPicture, IpObject, Pod, SubnetObject } from './picture.ts';
import { type Fields, fields, text } from './raw.ts';

const timeoutMs = 30_000;
const pageSize = 500;
const pagesMost = 10_000;
const pageMostBytes = 64 << 20;

const paths = {
  pods: '/api/v1/pods',
  ips: '/apis/kubeovn.io/v1/ips',
  subnets: '/apis/kubeovn.io/v1/subnets',
  networks: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
};

/**
 * All objects that show an address, or want one.
 * @throws Failure when the API cannot be read.
 */
export async function readCluster(get: Get): Promise<ClusterPicture> {
  const [pods, ips, subnets, networks] = await Promise.all(
    [paths.pods, paths.ips, paths.subnets, paths.networks].map((path) => everyItem(get, path)),
  );
  return {
    pods: (pods ?? []).map(podOf),
    ips: (ips ?? []).map(ipOf),
    subnets: (subnets ?? []).map(subnetOf),
    networks: new Map((networks ?? []).map(networkOf)),
  };
}

function podOf(item: Fields): Pod {
  const [metadata, spec, status] = [fields(item['metadata']), fields(item['spec']), fields(item['status'])];
  const all = Object.entries(fields(metadata['annotations'])).map(([key, value]) => [key, text(value)] as const);
  const annotations = Object.fromEntries(all);
  const hash = annotations['kubernetes.io/config.hash'] ?? '';
  const mirror = (annotations['kubernetes.io/config.mirror'] ?? '') !== '';
  const deletion = text(metadata['deletionTimestamp']);
  const grace = spec['terminationGracePeriodSeconds'];
  return {
    namespace: text(metadata['namespace']),
    name: text(metadata['name']),
    identity: mirror && hash !== '' ? hash : text(metadata['uid']),
    hostNetwork: spec['hostNetwork'] === true,
    restartPolicy: text(spec['restartPolicy']),
    phase: text(status['phase']),
    reason: text(status['reason']),
    deletionAt: deletion === '' ? undefined : Date.parse(deletion),
    graceSeconds: typeof grace === 'number' ? grace : 30,
    annotations,
  };
}

function ipOf(item: Fields): IpObject {
  const metadata = fields(item['metadata']);
  const allocation = text(fields(metadata['annotations'])['ipledger.io/allocation']);
  return { name: text(metadata['name']), allocation, spec: fields(item['spec']) };
}

const subnetOf = (item: Fields): SubnetObject => ({
  name: text(fields(item['metadata'])['name']),
  status: fields(item['status']),
});

function networkOf(item: Fields): [string, string] {
  const { namespace, name } = fields(item['metadata']);
  return [`${text(namespace)}/${text(name)}`, text(fields(item['spec'])['config'])];
}

/** Reads one object, or a page of a list. */
export type Get = (path: string) => Promise<Fields>;

async function everyItem(get: Get, path: string): Promise<Fields[]> {
  const items: Fields[] = [];
  let next = '';
  for (let page = 0; page < pagesMost; page++) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(next === '' ? {} : { continue: next }) });
    const list = await get(`${path}?${query}`);
    if (Array.isArray(list['items'])) for (const item of list['items']) items.push(fields(item));
    next = text(fields(list['metadata'])['continue']);
    if (next === '') return items;
  }
  throw new Failure('notCompared', `more than ${pagesMost} pages of ${path}`);
}

/**
 * To be awaited before anything is asked: the package takes a second of this process's time to load, in which no answer would be
 * heard; and no other verb should wait for it.
 * @throws Failure when there is no kubeconfig to be read.
 */
export async function connectApi(signal: AbortSignal): Promise<Get> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
  } catch (error) {
    throw new Failure('notCompared', `KUBECONFIG cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  const server = config.getCurrentCluster()?.server;
  if (server === undefined)
    throw new Failure('notCompared', 'the kubeconfig names no cluster: set its current-context, or KUBECONFIG');
  return async (path) => {
    try {
      return await ask(
        config,
        server.replace(/\/$/, '') + path,
        AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      );
    } catch (error) {
      signal.throwIfAborted();
      const why = `cannot read ${path.replace(/\?.*/, '')} of the Kubernetes API at ${server}`;
      throw new Failure('notCompared', `${why} (${reasonOf(error)}): KUBECONFIG says where it is`, { cause: error });
    }
  };
}

async function ask(config: KubeConfig, url: string, signal: AbortSignal): Promise<Fields> {
  const credentials: RequestOptions = {};
  await config.applyToHTTPSOptions(credentials);
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const headers = { ...(credentials.headers as OutgoingHttpHeaders), accept: 'application/json' };
    const request = send(url, { ...credentials, method: 'GET', headers, signal }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
        if (body.length > pageMostBytes) response.destroy(new Error(`more than ${pageMostBytes} bytes in a page`));
      });
      response.on('error', reject);
      response.on('end', () => {
        try {
          const answer = fields(JSON.parse(body));
          if (response.statusCode === 200) resolve(answer);
          else reject(new Error(`${response.statusCode} ${text(answer['message'])}`.trimEnd()));
        } catch (error) {
          reject(new Error(`${response.statusCode}, and no JSON`, { cause: error }));
        }
      });
    });
    request.on('error', reject);
    request.end();
  });
}

/** A connection that was refused on each of several addresses says so in its causes only. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error.name === 'TimeoutError' ? `no answer within ${timeoutMs / 1_000} s` : error.message;
}
