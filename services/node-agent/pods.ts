/** The agent's look at the Kubernetes API: as whom the ledger knows a Pod, where the caller can't tell. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { z } from 'zod';
import { unlessAborted, within } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import {
  type Controller,
  identityOf,
  machineClaimOf,
  type MachineInstance,
  machineInstanceOf,
  type PodIdentity,
  whyNotLauncher,
} from '../../lib/pod-identity.ts';
import { createGate } from './gate.ts';
import type { CniRequest } from './wire.ts';

const readMs = 5_000;
const mostBytes = 4 << 20;
const readsAtOnce = 16;
const mostWaiting = 4_096;

/** @throws IpledgerError NOT_ALLOCATED when there is no such Pod; UNAVAILABLE when the API can't be asked now */
export type Identify = (pod: Pick<CniRequest, 'podNamespace' | 'podName'>, signal: AbortSignal) => Promise<Identified>;

/** `podUid` is the uid of the Pod itself. */
export interface Identified extends PodIdentity {
  readonly podUid: string;
}

/** GET of a path of the Kubernetes API, with the credentials that go with it. */
export type ApiGet = (path: string, signal: AbortSignal) => Promise<{ status: number; body: string }>;

const reference = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  name: z.string(),
  uid: z.string(),
  controller: z.boolean().optional(),
});
const podSchema = z.object({
  metadata: z.object({
    uid: z.string().min(1),
    annotations: z.record(z.string(), z.string()).default({}),
    ownerReferences: z.array(reference).default([]),
  }),
});

/**
 * Reads the Pod, once each time: its namesake of yesterday had another uid. A Pod that claims to run a virtual machine is that
 * machine only where the machine lets it be seen, as for pod-watcher: else any Pod would be given its address.
 */
export function identifyBy(get: ApiGet): Identify {
  const gate = createGate(readsAtOnce, mostWaiting);
  const read = (path: string, what: string, signal: AbortSignal) =>
    gate(signal, () => get(path, within(readMs, signal))).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new IpledgerError('UNAVAILABLE', `${what} failed: the Kubernetes API could not be asked: ${why}`, {
        cause: error,
      });
    });
  return async ({ podNamespace, podName }, signal) => {
    const what = `get pod ${podNamespace}/${podName}`;
    const path = `/api/v1/namespaces/${encodeURIComponent(podNamespace)}/pods/${encodeURIComponent(podName)}`;
    const answer = await read(path, what, signal);
    if (answer.status === 404) throw new IpledgerError('NOT_ALLOCATED', `${what} failed pod "${podName}" not found`);
    const { uid, annotations, ownerReferences } = podSchema.parse(JSON.parse(bodyOf(answer, what))).metadata;
    const controller = ownerReferences.find((each) => each.controller === true);
    const claim = machineClaimOf({ name: podName, controller });
    if (!claim) return { ...identityOf({ name: podName, uid, annotations }), podUid: uid };
    const instance = await readInstance(podNamespace, claim, (each, of) => read(each, of, signal));
    const doubt = whyNotLauncher(instance, claim, { name: podName, uid });
    if (doubt) throw new IpledgerError(doubt.kind === 'unlisted' ? 'UNAVAILABLE' : 'NOT_ALLOCATED', doubt.text);
    return { name: claim.name, uid: claim.uid, podUid: uid };
  };
}

type Answer = Awaited<ReturnType<ApiGet>>;

async function readInstance(
  namespace: string,
  { name }: Controller,
  read: (path: string, what: string) => Promise<Answer>,
): Promise<MachineInstance | undefined> {
  const what = `get virtualmachineinstance ${namespace}/${name}`;
  const collection = `/apis/kubevirt.io/v1/namespaces/${encodeURIComponent(namespace)}/virtualmachineinstances`;
  const answer = await read(`${collection}/${encodeURIComponent(name)}`, what);
  return answer.status === 404 ? undefined : machineInstanceOf(JSON.parse(bodyOf(answer, what)));
}

/** @throws IpledgerError PERMISSION_DENIED, UNAVAILABLE */
function bodyOf({ status, body }: Answer, what: string): string {
  if (status === 200) return body;
  if (status === 401 || status === 403)
    throw new IpledgerError('PERMISSION_DENIED', `${what} failed: the agent needs this permission (HTTP ${status})`);
  throw new IpledgerError('UNAVAILABLE', `${what} failed: the Kubernetes API answered HTTP ${status}`);
}

/**
 * The API of the kubeconfig in KUBECONFIG, or of the cluster that the agent runs in. Loaded at first use: the client package
 * takes 90 MB, and where the runtime tells the Pod's uid it is never needed.
 */
export function kubernetesApi(): ApiGet {
  let loading: Promise<ApiGet> | undefined;
  return async (path, signal) => {
    loading ??= load();
    const get = await loading.catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return get(path, signal);
  };
}

async function load(): Promise<ApiGet> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromDefault();
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new Error('KUBECONFIG names no cluster');
  return async (path, signal) => {
    const options: RequestOptions = { method: 'GET', headers: { accept: 'application/json' } };
    await unlessAborted(config.applyToHTTPSOptions(options), signal); // a plugin that gives credentials may hang
    return exchange(new URL(server.replace(/\/$/, '') + path), { ...options, signal });
  };
}

function exchange(url: URL, options: RequestOptions): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
    const request = send(url, options, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
        if (body.length > mostBytes) response.destroy(new Error(`more than ${mostBytes} bytes`));
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on('error', reject);
    request.end();
  });
}
