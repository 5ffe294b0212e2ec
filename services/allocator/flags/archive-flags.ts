/** The archive flags of the allocator. */
import { Option } from 'commander';
import type { SealSchedule } from '../../../ledger/archive/seal-schedule.ts';
import { parseWholeNumber } from '../../../lib/process/options.ts';

/** The values of `archiveOptions`. */
export interface ArchiveSettings {
  /** The location of the archive; '' for none, so no events are sealed. */
  readonly archive: string;
  /** The limit of an archive in etcd. Other archives have no limit. */
  readonly archiveMaxBytes: number;
  readonly keepEvents: number;
  readonly keepHours: number;
  readonly segmentEvents: number;
}

const hourMs = 3_600_000;

/** The most events in a segment, which is read into memory several times to return one of them. */
const maxSegmentEvents = 100_000;

/** The flags. Each has an environment variable. */
export function archiveOptions(): Option[] {
  return [
    new Option(
      '--archive <where>',
      'archive for old events: /a/folder, s3://bucket/prefix, or etcd: for a history of limited size in etcd; empty: no archive',
    )
      .env('IPLEDGER_ARCHIVE')
      .default(''),
    new Option(
      '--archive-max-bytes <bytes>',
      'with --archive etcd: size beyond which the oldest events are dropped; default: a quarter of --etcd-quota',
    )
      .env('IPLEDGER_ARCHIVE_MAX_BYTES')
      .argParser((text) => parseWholeNumber(text, 1 << 20, Number.MAX_SAFE_INTEGER)),
    new Option('--keep-events <count>', 'number of newest events that stay in etcd')
      .env('IPLEDGER_KEEP_EVENTS')
      .default(100_000)
      .argParser((text) => parseWholeNumber(text, 1, Number.MAX_SAFE_INTEGER)),
    new Option('--keep-hours <hours>', 'events younger than this also stay in etcd')
      .env('IPLEDGER_KEEP_HOURS')
      .default(0)
      .argParser((text) => parseWholeNumber(text, 0, 1_000_000)),
    new Option('--segment-events <count>', 'number of events in one archive segment')
      .env('IPLEDGER_SEGMENT_EVENTS')
      .default(10_000)
      .argParser((text) => parseWholeNumber(text, 1, maxSegmentEvents)),
  ];
}

export const sealScheduleOf = ({ keepEvents, keepHours, segmentEvents }: ArchiveSettings): SealSchedule => ({
  keepEvents,
  keepMs: keepHours * hourMs,
  segmentEvents,
});
