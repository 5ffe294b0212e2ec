/** Watches etcd's size, growth and compaction. At its quota etcd rejects writes. */
import type { Etcd3 } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { headKey } from '../../../ledger/log/store/keys.ts';

const pollIntervalMs = 1_000;
/** A small quota can fill in seconds. */
const fastPoll = { aboveShare: 0.5, intervalMs: 100 };
/** The least time between two equal warnings. */
const reportIntervalMs = 60_000;
/** Share of the quota. */
const warnAtShare = 0.75;
/** etcd's auto-compaction keeps far fewer revisions than this. */
const maxRevisions = 1_000_000;

export interface EtcdSize {
  /** Size of the database file. */
  readonly bytes: number;
  /** Bytes in use: the size after a defragmentation. */
  readonly inUse: number;
  /** Days until the quota is used, at the growth of the last day; undefined without growth. */
  readonly daysLeft?: number | undefined;
}

export interface EtcdSizeOptions {
  readonly client: Etcd3;
  /** The value of etcd's --quota-backend-bytes. */
  readonly quotaBytes: number;
  readonly log: Logger;
  /** Called after each read, with the revision of etcd. */
  readonly onSize: (size: EtcdSize, revision: string) => Promise<void> | void;
  /** Set by specs. Defaults: one second, a report a minute, a million revisions. */
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

/** Returns the part of the quota that is in use. */
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

const hourMs = 3_600_000;
const windowHours = 24;
const dayMs = 24 * hourMs;
/** Beyond this the growth means nothing. */
const maxDays = 3_650;

/** The least size of one hour: the size rises between two compactions. */
interface HourlyMinimum {
  readonly hour: number;
  inUse: number;
}

export class EtcdGrowth {
  /** The current hour, which has not ended, and up to 25 before it; oldest first. */
  readonly #hours: HourlyMinimum[] = [];

  /** Adds a size, in the order of time. @param atMs of a clock that never goes back */
  add(inUse: number, atMs: number): void {
    const hour = Math.floor(atMs / hourMs);
    const last = this.#hours.at(-1);
    if (last?.hour === hour) last.inUse = Math.min(last.inUse, inUse);
    else this.#hours.push({ hour, inUse });
    while ((this.#hours[0]?.hour ?? hour) < hour - windowHours - 1) this.#hours.shift();
  }

  /** Days until `quotaBytes` are in use; undefined in the first two hours, and without growth. */
  daysLeft(quotaBytes: number): number | undefined {
    const [first, last] = [this.#hours[0], this.#hours.at(-2)];
    if (!first || !last || last.hour <= first.hour) return undefined;
    const bytesPerDay = ((last.inUse - first.inUse) / ((last.hour - first.hour) * hourMs)) * dayMs;
    const days = Math.max(0, quotaBytes - last.inUse) / bytesPerDay;
    return bytesPerDay > 0 && days <= maxDays ? days : undefined;
  }
}
