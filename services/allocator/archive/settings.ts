/** What the allocator is told about its archive. */
import { InvalidArgumentError, Option } from 'commander';
import type { Retention } from './retention.ts';

/** As commander reads `archiveOptions`. */
export interface ArchiveSettings {
  /** '': nothing is sealed. */
  readonly archive: string;
  readonly keepEvents: number;
  readonly keepHours: number;
  readonly segmentEvents: number;
}

const hourMs = 3_600_000;

/** A segment is read whole to answer for one of its events, so it has to fit into memory several times. */
const mostSegmentEvents = 100_000;

/** The flags, each with its environment variable. */
export function archiveOptions(): Option[] {
  return [
    new Option('--archive <where>', 'where old events go: /a/folder or s3://bucket/prefix; nowhere if empty')
      .env('IPLEDGER_ARCHIVE')
      .default(''),
    new Option('--keep-events <count>', 'so many of the last events stay in etcd')
      .env('IPLEDGER_KEEP_EVENTS')
      .default(100_000)
      .argParser((text) => wholeNumber(text, 1, Number.MAX_SAFE_INTEGER)),
    new Option('--keep-hours <hours>', 'and all that are younger')
      .env('IPLEDGER_KEEP_HOURS')
      .default(0)
      .argParser((text) => wholeNumber(text, 0, 1_000_000)),
    new Option('--segment-events <count>', 'so many go to the archive at once')
      .env('IPLEDGER_SEGMENT_EVENTS')
      .default(10_000)
      .argParser((text) => wholeNumber(text, 1, mostSegmentEvents)),
  ];
}

export const retentionOf = ({ keepEvents, keepHours, segmentEvents }: ArchiveSettings): Retention => ({
  keepEvents,
  keepMs: keepHours * hourMs,
  segmentEvents,
});

/** @throws InvalidArgumentError */
export function wholeNumber(text: string, least: number, most: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least || number > most)
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  return number;
}
