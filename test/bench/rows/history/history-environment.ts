/** The history that rows of the bench share: a real etcd with a long one, and an allocator. */
import { EtcdLedger } from '../../../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import { prefixEnd, logPrefix, keyPrefix } from '../../../../ledger/log/store/keys.ts';
import type { StoredKey } from '../../../../ledger/log/store/ledger.ts';
import { compactEtcd, type Etcd, maintenanceMs, startEtcd } from '../../../harness/etcd.ts';
import { printProgress } from '../../../harness/progress.ts';
import type { Run } from '../../../harness/run.ts';
import {
  type AllocatorServer,
  type ReadModelServer,
  startAllocator,
  startReadModel,
} from '../../../harness/services.ts';
import { buildHistory } from '../../../history/build-history.ts';
import { measureTime } from '../../measurement.ts';
import { PlainReader } from '../../plain-reader.ts';
import { keepHistory, keptFile, restoreHistory } from './kept-history.ts';

export interface HistoryInEtcd {
  readonly run: Run;
  readonly etcd: Etcd;
  readonly ledger: EtcdLedger;
  /** The floor of reads. */
  readonly plainReader: PlainReader;
  readonly events: number;
}

export interface HistoryEnvironment extends HistoryInEtcd {
  readonly allocator: AllocatorServer;
}

/** The quota of etcd: enough for ten million events and the keys beside the log. */
const quotaBytes = 32 * 2 ** 30;
const eventsPerProgress = 50_000;

interface HistoryOptions {
  /** Pods that exist at a time. Default: 500. */
  readonly livePods?: number | undefined;
  /** Whether the next run begins with this history. */
  readonly isKept?: boolean | undefined;
  /** The name of the etcd server, if a run has several. */
  readonly name?: string | undefined;
}

/** Builds the history, compacts etcd and starts the allocator. */
export async function openHistoryEnvironment(
  run: Run,
  events: number,
  options?: HistoryOptions,
): Promise<HistoryEnvironment> {
  const history = await openHistory(run, events, options);
  return { ...history, allocator: await startAllocator(run, { etcd: history.etcd }) };
}

/** Builds the history, or begins with the one that an earlier run kept. */
export async function openHistory(
  run: Run,
  events: number,
  { livePods, isKept = false, name = 'etcd' }: HistoryOptions = {},
): Promise<HistoryInEtcd> {
  const file = isKept ? keptFile(events, livePods ?? 0) : '';
  const isRestored = isKept && (await restoreHistory(run, file, name));
  const etcd = await startEtcd(run, { name, quotaBytes });
  if (isRestored) printProgress(`  restored from ${file}`);
  else {
    await writeHistory(run, etcd, { events, livePods });
    if (isKept) await keepHistory(etcd, file);
  }
  const client = connectEtcd([etcd.endpoint]);
  run.onEnd(() => client.close());
  const ledger = new EtcdLedger(client);
  return { run, etcd, ledger, plainReader: new PlainReader(client), events: (await ledger.head(run.signal)).seq };
}

/** Builds the history, and compacts etcd. */
async function writeHistory(
  run: Run,
  etcd: Etcd,
  { events, livePods }: { readonly events: number; readonly livePods: number | undefined },
): Promise<void> {
  let [printedAt, compactedAt] = [0, eventsPerProgress];
  const onProgress = (seq: number): void => {
    if (seq < printedAt + eventsPerProgress) return;
    printedAt = seq;
    printProgress(`  ${seq} events`);
    // Each compaction reads the complete database, so the interval doubles.
    if (seq < 2 * compactedAt) return;
    compactedAt = seq;
    void compactEtcd(etcd).catch(() => undefined); // the next compaction repeats it
  };
  const { ms, result: seq } = await measureTime(() =>
    buildHistory({ etcd, events, livePods, signal: run.signal, onProgress }),
  );
  printProgress(`  ${seq} events built, ${Math.round(seq / (ms / 1_000))} per second`);
  await compactEtcd(etcd, '--physical');
  await etcd.etcdctl(['defrag'], { timeoutMs: maintenanceMs });
}

/** A read model that has all events, and the time that it took from its start. */
export interface IndexedReadModel {
  readonly model: ReadModelServer;
  readonly indexMs: number;
}

const readModels = new WeakMap<HistoryEnvironment, Promise<IndexedReadModel>>();

/** Starts a read model with an empty file, once for all rows. */
export function startIndexedReadModel(environment: HistoryEnvironment): Promise<IndexedReadModel> {
  const { run, allocator } = environment;
  const started =
    readModels.get(environment) ??
    measureTime(() => startReadModel(run, { allocator })).then(({ ms, result }) => ({ model: result, indexMs: ms }));
  readModels.set(environment, started);
  return started;
}

const everyKey = { from: keyPrefix, end: prefixEnd(keyPrefix) };
const everyEvent = { from: logPrefix, end: prefixEnd(logPrefix) };

/**
 * Reads the keys of the log, or all keys, page by page, and parses each value: the floor. Calls
 * `each` with every key.
 */
export async function readAndParse(
  { plainReader, run }: Pick<HistoryEnvironment, 'plainReader' | 'run'>,
  which: 'log' | 'all',
  each: (key: StoredKey, value: unknown) => void = () => undefined,
): Promise<void> {
  for await (const keys of plainReader.pages(which === 'log' ? everyEvent : everyKey, run.signal))
    for (const key of keys) each(key, JSON.parse(key.text));
}
