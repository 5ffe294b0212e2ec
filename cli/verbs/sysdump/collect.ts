/** Collects the parts of a support bundle. Each has limits, and each may fail alone. */
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import { asRecord, asText, type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import { LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { factsFile } from '../../bundle/read-bundle.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { collectionPaths } from '../../cluster/read-cluster.ts';
import type { Facts, Gap } from '../../installation/facts.ts';
import { listOwnPods } from '../../installation/read-programs.ts';
import { selectOwnEvent, selectOwnPod } from './own-objects.ts';
import { readLogs } from './read-logs.ts';

const maxObjects = 5_000;
const partTimeoutMs = 60_000;
/** A part that is longer is cut, and named. All parts together are at most 128 MiB. */
const partMaxBytes = 32 << 20;
const totalMaxBytes = 128 << 20;
const concurrency = 8;

export interface BundleSources {
  readonly facts: Facts;
  readonly allocator: Pick<LedgerClient, 'call' | 'stream'>;
  /** Absent without a kubeconfig, or if Kubernetes is not to be read. */
  readonly connectKubernetes?: (() => Promise<Pick<KubernetesClient, 'list' | 'readText'>>) | undefined;
  readonly logLines: number;
  readonly ledgerEvents: number;
  readonly signal: AbortSignal;
}

/** A file of the bundle: a JSON value, or a text. */
export interface BundleFile {
  readonly path: string;
  readonly content: string | object;
}

export interface Collected {
  readonly files: readonly BundleFile[];
  /** What is missing or cut, and why. */
  readonly problems: readonly Gap[];
}

/** @throws IpledgerError CANCELLED after an abort; nothing else */
export async function collect(sources: BundleSources): Promise<Collected> {
  const { facts, signal } = sources;
  const problems: Gap[] = [...facts.gaps];
  const runPart = createSemaphore(concurrency, Infinity);
  const attempt = (path: string, read: (deadline: AbortSignal) => Promise<string | object>): Promise<BundleFile[]> =>
    runPart(signal, async () => {
      try {
        return [{ path, content: await read(timeoutSignal(partTimeoutMs, signal)) }];
      } catch (error) {
        if (signal.aborted) throw IpledgerError.from(signal.reason);
        problems.push({ part: path, reason: errorMessage(error) });
        return [];
      }
    });
  const listed = (path: string, collection: string, select: (item: UntypedJson) => unknown): Promise<BundleFile[]> =>
    attempt(path, async () => {
      const items = (await kubernetes?.list(collection))?.flatMap((item) => select(item) ?? []) ?? [];
      if (items.length > maxObjects) problems.push({ part: path, reason: `${items.length - maxObjects} are left out` });
      return items.slice(-maxObjects);
    });
  const kubernetes = await sources.connectKubernetes?.().catch((error: unknown) => {
    if (signal.aborted) throw IpledgerError.from(signal.reason);
    problems.push({ part: 'kubernetes', reason: errorMessage(error) });
    return undefined;
  });
  let ownPods: readonly UntypedJson[] = [];
  const ofPods = kubernetes
    ? await attempt('kubernetes/own-pods.json', async () => {
        ownPods = await listOwnPods(kubernetes, facts.namespace);
        return ownPods.slice(0, maxObjects).map(selectOwnPod);
      })
    : [];
  const logs = { namespace: facts.namespace, pods: ownPods, lines: sources.logLines };
  const parts = await Promise.all([
    attempt('ledger/status.json', (deadline) => sources.allocator.call(LedgerService.getStatus, {}, deadline)),
    attempt('ledger/subnets.json', (deadline) => sources.allocator.call(SubnetsService.listSubnets, {}, deadline)),
    attempt('ledger/ippools.json', (deadline) => sources.allocator.call(SubnetsService.listPools, {}, deadline)),
    attempt('ledger/events.ndjson', (deadline) => readEvents(sources, deadline)),
    ...(kubernetes
      ? [
          listed('kubernetes/subnets.json', collectionPaths.Subnet, selectObject),
          listed('kubernetes/ippools.json', collectionPaths.IPPool, selectObject),
          listed('kubernetes/networks.json', collectionPaths.Network, selectObject),
          listed('kubernetes/pods.json', collectionPaths.Pod, selectPod),
          listed('kubernetes/events.json', '/api/v1/events', selectEvent),
          listed('kubernetes/own-events.json', `/api/v1/namespaces/${facts.namespace}/events`, selectOwnEvent),
          ...readLogs({ ...logs, kubernetes }).map(([path, read]) => attempt(path, read)),
        ]
      : []),
  ]);
  const files = cut([{ path: factsFile, content: facts }, ...ofPods, ...parts.flat()], problems);
  return { files, problems };
}

/** The newest events as their stored lines. */
async function readEvents({ facts, allocator, ledgerEvents }: BundleSources, deadline: AbortSignal): Promise<string> {
  const { seq } = facts.status ?? {};
  if (seq === undefined) throw new Error('the position of the ledger is not known');
  const fromSeq = Math.max(1, seq - ledgerEvents + 1);
  const lines: string[] = [];
  if (seq === 0 || ledgerEvents === 0) return '';
  for await (const reply of allocator.stream(LedgerService.export, { fromSeq, toSeq: seq }, deadline))
    lines.push(...reply.lines);
  deadline.throwIfAborted();
  return lines.map((line) => `${line}\n`).join('');
}

/** Leaves out the record of who changed which field, which is half of an object. */
function selectObject(item: UntypedJson): UntypedJson {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, finalizers } = asRecord(
    item['metadata'],
  );
  const metadata = { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, finalizers };
  return { metadata, spec: item['spec'], status: item['status'] };
}

/** Annotations of networks and of ipledger; those of other programs may be anything. */
const isOfNetworks = (key: string): boolean =>
  /^(?:k8s\.v1\.cni\.cncf\.io\/network|v1\.multus-cni\.io\/|ipledger\.io\/|ovn\.kubernetes\.io\/)/.test(key) ||
  /\.kubernetes\.io\/(?:ip_address|mac_address|cidr|gateway|allocated|routed|ip_pool|logical_switch|routes|vlan_id)\b/.test(
    key,
  );

/** Undefined for a Pod that has no network of ipledger. */
function selectPod(item: UntypedJson): UntypedJson | undefined {
  const { name, namespace, uid, annotations, deletionTimestamp } = asRecord(item['metadata']);
  const own = Object.entries(asRecord(annotations)).filter(([key]) => isOfNetworks(key));
  if (own.length === 0) return undefined;
  const { nodeName } = asRecord(item['spec']);
  const { phase, reason } = asRecord(item['status']);
  return {
    name,
    namespace,
    uid,
    node: nodeName,
    phase,
    reason,
    deletionTimestamp,
    annotations: Object.fromEntries(own),
  };
}

/** Events of ipledger, and of the kubelet about networks. */
function selectEvent(item: UntypedJson): UntypedJson | undefined {
  const { component } = asRecord(item['source']);
  const from = asText(component) || asText(item['reportingComponent']);
  const isOurs = from.includes('ipledger') || from.includes('pod-watcher');
  if (!isOurs && asText(item['reason']) !== 'FailedCreatePodSandBox') return undefined;
  const { kind, namespace, name } = asRecord(item['involvedObject']);
  const { type, reason, message, count, lastTimestamp, eventTime } = item;
  return { from, kind, namespace, name, type, reason, message, count, at: lastTimestamp ?? eventTime };
}

/** Cuts long texts, and leaves files out when the bundle is full. The facts come first. */
function cut(files: readonly BundleFile[], problems: Gap[]): BundleFile[] {
  let total = 0;
  return files.flatMap(({ path, content }): BundleFile[] => {
    const bytes = Buffer.byteLength(typeof content === 'string' ? content : JSON.stringify(content));
    const room = Math.min(partMaxBytes, totalMaxBytes - total);
    if (bytes <= room) {
      total += bytes;
      return [{ path, content }];
    }
    const kept = typeof content === 'string' ? Buffer.from(content).subarray(bytes - room) : Buffer.alloc(0);
    const rest = kept.length === 0 ? 'left out' : `the last ${kept.length} are kept`;
    problems.push({ part: path, reason: `it has ${bytes} bytes: ${rest}` });
    total += kept.length;
    return kept.length === 0 ? [] : [{ path, content: kept.toString('utf8') }];
  });
}
