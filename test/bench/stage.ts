/** What is measured on: a real etcd with a long history, and an allocator on it. */
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import { endOf, logPrefix, prefix } from '../../services/allocator/ledger/keys.ts';
import type { StoredKey } from '../../services/allocator/ledger/ledger.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { say } from '../harness/say.ts';
import type { Run } from '../harness/run.ts';
import { type Allocator, startAllocator } from '../harness/services.ts';
import { buildHistory } from '../history/build.ts';
import { timed } from './figure.ts';

export interface Stage {
  readonly run: Run;
  readonly etcd: Etcd;
  readonly ledger: EtcdLedger;
  readonly allocator: Allocator;
  readonly events: number;
}

/** Of a log of ten million events with what is written beside it. */
const quotaBytes = 32 * 2 ** 30;
const eventsAProgress = 50_000;
/** Compaction and defragmentation go through all that is there. */
const upkeepMs = 30 * 60_000;

/** Builds it. */
export async function setStage(run: Run, events: number): Promise<Stage> {
  const etcd = await startEtcd(run, { quotaBytes });
  let [saidAt, compactedAt] = [0, eventsAProgress];
  const onProgress = (seq: number): void => {
    if (seq < saidAt + eventsAProgress) return;
    saidAt = seq;
    say(`  ${seq} events`);
    // etcd goes through all that there is each time, one time after the other.
    if (seq < 2 * compactedAt) return;
    compactedAt = seq;
    void compact(etcd).catch(() => undefined); // the next one will do
  };
  const { ms, result: seq } = await timed(() => buildHistory({ etcd, events, signal: run.signal, onProgress }));
  say(`  ${seq} events built, ${Math.round(seq / (ms / 1_000))} a second`);
  await compact(etcd, '--physical');
  await etcd.etcdctl(['defrag'], { timeoutMs: upkeepMs });
  const client = connectEtcd([etcd.endpoint]);
  run.onEnd(() => client.close());
  return { run, etcd, ledger: new EtcdLedger(client), allocator: await startAllocator(run, { etcd }), events: seq };
}

interface Status {
  readonly header: { readonly revision: number };
  readonly dbSizeInUse: number;
}

/** What etcd says of itself. */
export async function statusOf(etcd: Etcd): Promise<Status> {
  const [{ Status: status }] = JSON.parse(await etcd.etcdctl(['endpoint', 'status', '-w', 'json'])) as [
    { readonly Status: Status },
  ];
  return status;
}

/** Old versions of keys are forgotten, as etcd's auto-compaction does it; with `--physical` they are gone by then. */
async function compact(etcd: Etcd, ...flags: readonly '--physical'[]): Promise<void> {
  const { header } = await statusOf(etcd);
  await etcd.etcdctl(['compact', ...flags, String(header.revision)], { timeoutMs: upkeepMs });
}

const everyKey = { from: prefix, end: endOf(prefix) };
const everyEvent = { from: logPrefix, end: endOf(logPrefix) };

/** The floor: reads the keys of the log (or all keys), page after page, and parses each value. Calls `each` with every key. */
export async function readAndParse(
  { ledger, run }: Stage,
  which: 'log' | 'all',
  each: (key: StoredKey, value: unknown) => void = () => undefined,
): Promise<void> {
  for await (const { keys } of ledger.keys(which === 'log' ? everyEvent : everyKey, run.signal))
    for (const key of keys) each(key, JSON.parse(key.text));
}
