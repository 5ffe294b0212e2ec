/** How large etcd's database is, and whether anybody compacts it: at its quota etcd takes no writes, and nobody gets an address. */
import type { Etcd3 } from 'etcd3';
import { pause } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/log.ts';
import { headKey } from './ledger/keys.ts';

const lookMs = 60_000;
/** Of its quota. */
const nearlyFull = 0.75;
/** Keeping more old revisions than this serves nobody. */
const mostRevisions = 1_000_000;

export interface EtcdSize {
  /** Of the database on disk. */
  readonly bytes: number;
  /** Of what is in use in it: what a defragmentation leaves. */
  readonly inUse: number;
}

export interface EtcdSizeOptions {
  readonly client: Etcd3;
  /** As etcd's --quota-backend-bytes says. */
  readonly quotaBytes: number;
  readonly log: Logger;
  /** Told at each look. */
  readonly onSize: (size: EtcdSize) => void;
  /** Default: a minute, and a million. */
  readonly pace?: { readonly lookMs: number; readonly mostRevisions: number };
}

/** Looks now and then, and warns whenever there is reason to, until the signal is aborted. */
export async function watchEtcdSize(options: EtcdSizeOptions, signal: AbortSignal): Promise<void> {
  const { log, pace } = options;
  while (!signal.aborted) {
    try {
      await look(options);
    } catch (error) {
      log.debug({ err: error }, "etcd's size could not be read");
    }
    await pause(pace?.lookMs ?? lookMs, signal);
  }
}

async function look({ client, quotaBytes, log, onSize, pace }: EtcdSizeOptions): Promise<void> {
  const { header, dbSize, dbSizeInUse } = await client.maintenance.status();
  const size = { bytes: Number(dbSize), inUse: Number(dbSizeInUse) };
  onSize(size);
  if (size.inUse > nearlyFull * quotaBytes)
    log.error({ ...size, quotaBytes }, "etcd is nearly full: seal events into an archive, or raise etcd's quota");
  else if (size.bytes > nearlyFull * quotaBytes)
    log.warn(
      { ...size, quotaBytes },
      "etcd's database is nearly as large as it may be, much of it free: defragment it",
    );
  const old = Number(header.revision) - (pace?.mostRevisions ?? mostRevisions);
  if (old > 0 && (await isReadable(client, old)))
    log.warn({ revision: header.revision, readable: old }, 'nobody compacts etcd: is its auto-compaction on?');
}

/** Whether etcd keeps what was there then. */
const isReadable = (client: Etcd3, revision: number): Promise<boolean> =>
  client.kv.range({ key: Buffer.from(headKey), revision: String(revision), keys_only: true }).then(
    () => true,
    () => false,
  );
