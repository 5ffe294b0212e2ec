/** Watches the size of etcd's database and its compaction. At its quota etcd rejects writes, and no address can be allocated. */
import type { Etcd3 } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { headKey } from '../../../ledger/log/store/keys.ts';
import { EtcdGrowth } from './etcd-growth.ts';

const pollIntervalMs = 60_000;
/** Share of the quota. */
const warnAtShare = 0.75;
/** etcd's auto-compaction keeps far fewer revisions than this. */
const maxRevisions = 1_000_000;

export interface EtcdSize {
  /** Size of the database file. */
  readonly bytes: number;
  /** Bytes in use: the size after a defragmentation. */
  readonly inUse: number;
  /** Days until the quota is in use, at the growth of the last day; undefined while that is not known, or there is no growth. */
  readonly daysLeft?: number | undefined;
}

export interface EtcdSizeOptions {
  readonly client: Etcd3;
  /** The value of etcd's --quota-backend-bytes. */
  readonly quotaBytes: number;
  readonly log: Logger;
  /** Called after each read. */
  readonly onSize: (size: EtcdSize) => void;
  /** For specs. Defaults: one minute, a million revisions. */
  readonly pace?: { readonly pollIntervalMs: number; readonly maxRevisions: number };
}

/** Reads the size at an interval and logs warnings, until the signal is aborted. */
export async function watchEtcdSize(options: EtcdSizeOptions, signal: AbortSignal): Promise<void> {
  const { log, pace } = options;
  const growth = new EtcdGrowth();
  while (!signal.aborted) {
    try {
      await checkSize(options, growth);
    } catch (error) {
      log.debug({ err: error }, "the size of etcd's database could not be read");
    }
    await pause(pace?.pollIntervalMs ?? pollIntervalMs, signal);
  }
}

async function checkSize(
  { client, quotaBytes, log, onSize, pace }: EtcdSizeOptions,
  growth: EtcdGrowth,
): Promise<void> {
  const { header, dbSize, dbSizeInUse } = await client.maintenance.status();
  const size = { bytes: Number(dbSize), inUse: Number(dbSizeInUse) };
  growth.add(size.inUse, performance.now());
  onSize({ ...size, daysLeft: growth.daysLeft(quotaBytes) });
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
}

/** Whether etcd has not compacted a revision yet. */
const isReadable = (client: Etcd3, revision: number): Promise<boolean> =>
  client.kv.range({ key: Buffer.from(headKey), revision: String(revision), keys_only: true }).then(
    () => true,
    () => false,
  );
