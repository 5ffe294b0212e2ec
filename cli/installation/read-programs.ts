/** Reads ipledger's Pods, and the metrics of its programs, by port-forward or from an address. */
import { mkdtempSync, rmSync } from 'node:fs';
import { get, type RequestOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { errorMessage } from '../../lib/errors.ts';
import { timeoutSignal } from '../../lib/process/abortable.ts';
import { createSemaphore } from '../../lib/process/semaphore.ts';
import { isReady } from '../../lib/kubernetes/object-meta.ts';
import { asRecord, asRecords, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import { forwardPort } from '../clients/port-forward.ts';
import type { Gap, Program, Sample } from './facts.ts';
import { parseMetrics } from './parse-metrics.ts';

const timeoutMs = 10_000;
/** A page of metrics has some KiB for each Subnet. */
const pageMaxBytes = 16 << 20;
/** Port-forwards at the same time. Each is a connection of the API server to a kubelet. */
const concurrency = 16;
const maxPrograms = 20_000;
const components = new Set(['allocator', 'pod-watcher', 'node-agent', 'ovn-projector', 'read-model', 'console']);

export interface ProgramSources {
  readonly namespace: string;
  /** Absent without a kubeconfig, or if Kubernetes is not to be read. */
  readonly cluster?: { readonly config: KubeConfig } | undefined;
  /** The Pods of ipledger, as the API server has them. */
  readonly pods: readonly UntypedJson[];
  /** "host:port" of programs outside of Pods. */
  readonly addresses: readonly string[];
  readonly readMetrics: boolean;
  readonly signal: AbortSignal;
}

interface ReadPrograms {
  readonly programs: readonly Program[];
  readonly gaps: readonly Gap[];
}

/** @throws CliError when the Pods cannot be listed */
export const listOwnPods = ({ list }: Pick<KubernetesClient, 'list'>, namespace: string): Promise<UntypedJson[]> =>
  list(`/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent('app.kubernetes.io/name=ipledger')}`);

/** Programs whose metrics cannot be read have none, and a gap. */
export async function readPrograms(sources: ProgramSources): Promise<ReadPrograms> {
  const { addresses, readMetrics, signal } = sources;
  const pods = sources.pods.flatMap((item) => parsePod(item) ?? []);
  const gaps: Gap[] = [];
  const runOne = createSemaphore(concurrency, maxPrograms);
  const attempt = async (found: Found, read: () => Promise<Sample[]>): Promise<Program> => {
    if (!readMetrics) return found.program;
    try {
      return withSamples(found.program, await runOne(signal, read));
    } catch (error) {
      signal.throwIfAborted();
      // A Pod that is not ready is a finding of its own
      if (found.program.isReady) gaps.push({ part: `metrics of ${found.program.name}`, reason: errorMessage(error) });
      return found.program;
    }
  };
  const programs = await Promise.all([
    ...pods.map((found) => attempt(found, () => forwardAndRead(sources, found))),
    ...addresses.map((name) => attempt({ program: outside(name), port: 0 }, () => readAddress(name, signal))),
  ]);
  return { programs, gaps };
}

/** A Pod and the port of its metrics; 0 without one. */
interface Found {
  readonly program: Program;
  readonly port: number;
}

/** Undefined for Pods of other programs, and for Pods that do not run. */
function parsePod(item: UntypedJson): Found | undefined {
  const [metadata, spec, status] = [asRecord(item['metadata']), asRecord(item['spec']), asRecord(item['status'])];
  const labels = asRecord(metadata['labels']);
  const component = asText(labels['app.kubernetes.io/component']);
  const container = asRecords(spec['containers']).find(({ name }) => name === component);
  if (!components.has(component) || !container || status['phase'] !== 'Running') return undefined;
  const ports = asRecords(container['ports']);
  const port = ['probes', 'metrics'].map((name) => ports.find((each) => each['name'] === name)?.['containerPort']);
  const program = {
    component,
    name: asText(metadata['name']),
    node: asText(spec['nodeName']),
    isReady: isReady(item),
    version: asText(labels['app.kubernetes.io/version']),
    image: asText(container['image']),
    settings: settingsOf(container),
  };
  return { program, port: port.find((each) => typeof each === 'number') ?? 0 };
}

/** The names of files and sockets, which no Secret is part of. */
function settingsOf(container: UntypedJson): Record<string, string> {
  const names = new Set(['IPLEDGER_SOCKETS', 'IPLEDGER_CHECKPOINT_FILE', 'IPLEDGER_HEALTH_LISTEN']);
  const entries = asRecords(container['env']).map(({ name, value }) => [asText(name), asText(value)] as const);
  return Object.fromEntries(entries.filter(([name, value]) => names.has(name) && value !== ''));
}

const outside = (name: string): Program => ({
  component: '',
  name,
  node: '',
  isReady: true,
  version: '',
  image: '',
  settings: {},
});

/** The metrics name the program and its version. */
function withSamples(program: Program, samples: readonly Sample[]): Program {
  const { program: component = program.component, version = program.version } =
    samples.find(({ name }) => name === 'ipledger_build_info')?.labels ?? {};
  return { ...program, component, version, samples: [...samples] };
}

async function forwardAndRead({ cluster, namespace, signal }: ProgramSources, found: Found): Promise<Sample[]> {
  const { program, port } = found;
  if (!cluster || port === 0) throw new Error('its Pod names no port for metrics');
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-'));
  const path = join(folder, 'metrics');
  try {
    const pod = { name: program.name, port };
    using forwarded = await forwardPort(cluster.config, { namespace, pod, local: { path } });
    return await readPage({ socketPath: path, host: 'localhost' }, signal).catch((error: unknown) => {
      throw forwarded.failure === undefined ? error : new Error(forwarded.failure, { cause: error });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readAddress(address: string, signal: AbortSignal): Promise<Sample[]> {
  try {
    const { hostname, port } = new URL(`http://${address}`);
    return await readPage({ host: hostname.replaceAll(/[[\]]/g, ''), port }, signal);
  } catch (error) {
    throw new Error(`${errorMessage(error)}: start its program, or correct --metrics`, { cause: error });
  }
}

async function readPage(target: RequestOptions, signal: AbortSignal): Promise<Sample[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const request = get({ ...target, path: '/metrics', signal: timeoutSignal(timeoutMs, signal) }, (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('error', reject);
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > pageMaxBytes) response.destroy(new Error(`its metrics have more than ${pageMaxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on('end', () => {
      if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString());
      else reject(new Error(`its metrics are answered by HTTP status ${response.statusCode}`));
    });
  });
  request.on('error', reject);
  return parseMetrics(await promise);
}
