/** Watches etcd's size and compaction, because etcd rejects writes at its quota. */
import type { Etcd3 } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { headKey } from '../../../ledger/log/store/keys.ts';
import { EtcdGrowth } from './etcd-growth.ts';

const pollIntervalMs = 1_000;
/** Reads the size more often when much is used, because a small quota can fill in seconds. */
const fastPoll = { aboveShare: 0.5, intervalMs: 100 };
/** The minimum time between two equal warnings. */
const reportIntervalMs = 60_000;
/** The share of the quota from which on a warning is logged. */
const warnAtShare = 0.75;
/** The most uncompacted revisions without a warning. etcd's auto-compaction keeps far fewer. */
const maxRevisions = 1_000_000;

export interface EtcdSize {
  /** The size of the database file. */
  readonly bytes: number;
  /** The bytes in use, which is the size after a defragmentation. */
  readonly inUse: number;
  /** Days until the quota is used, at the growth of the last day; undefined without growth. */
  readonly daysLeft?: number | undefined;
}

export interface EtcdSizeOptions {
  readonly client: Etcd3;
  /** The value of etcd's --quota-backend-bytes. */
  readonly quotaBytes: number;
  readonly log: Logger;
  /** Called after each read of the size, with the revision of etcd. */
  readonly onSize: (size: EtcdSize, revision: string) => Promise<void> | void;
  /** Set by specs. Defaults: one second, one report a minute, a million revisions. */
  readonly pace?: { readonly pollIntervalMs: number; readonly reportIntervalMs: number; readonly maxRevisions: number };
}

/** Reads the size at an interval and logs warnings, until the signal is aborted. */
export async function watchEtcdSize(options: EtcdSizeOptions, signal: AbortSignal): Promise<void> {
  const { log, pace } = options;
  const growth = new EtcdGrowth();
  let reportedAt = -Infinity;
  while (!signal.aborted) {
    let usedShare = 0;
    try {
      const isReported = performance.now() - reportedAt >= (pace?.reportIntervalMs ?? reportIntervalMs);
      if (isReported) reportedAt = performance.now();
      usedShare = await checkSize(options, growth, isReported);
    } catch (error) {
      log.debug({ err: error }, "the size of etcd's database could not be read");
    }
    const isFast = usedShare > fastPoll.aboveShare;
    await pause(pace?.pollIntervalMs ?? (isFast ? fastPoll.intervalMs : pollIntervalMs), signal);
  }
}

/** Reads the size, and returns the used share of the quota. */
async function checkSize(
  { client, quotaBytes, log, onSize, pace }: EtcdSizeOptions,
  growth: EtcdGrowth,
  isReported: boolean,
): Promise<number> {
  const { header, dbSize, dbSizeInUse } = await client.maintenance.status();
  const size = { bytes: Number(dbSize), inUse: Number(dbSizeInUse) };
  growth.add(size.inUse, performance.now());
  await onSize({ ...size, daysLeft: growth.daysLeft(quotaBytes) }, header.revision);
  const usedShare = size.inUse / quotaBytes;
  if (!isReported) return usedShare;
  if (size.inUse > warnAtShare * quotaBytes)
    log.error(
      { ...size, quotaBytes },
      "etcd's database is nearly full: at its quota etcd rejects writes. Seal events into an archive (--archive), or raise etcd's quota",
    );
  else if (size.bytes > warnAtShare * quotaBytes)
    log.warn(
      { ...size, quotaBytes },
      "etcd's database file is near its quota, and much of it is free space. Defragment etcd",
    );
  const old = Number(header.revision) - (pace?.maxRevisions ?? maxRevisions);
  if (old > 0 && (await isReadable(client, old)))
    log.warn(
      { revision: header.revision, readable: old },
      'etcd keeps more than a million old revisions. Switch on its auto-compaction',
    );
  return usedShare;
}

/** Whether etcd has not compacted a revision yet. */
const isReadable = (client: Etcd3, revision: number): Promise<boolean> =>
  client.kv.range({ key: Buffer.from(headKey), revision: String(revision), keys_only: true }).then(
    () => true,
    () => false,
  );
