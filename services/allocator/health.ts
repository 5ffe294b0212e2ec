/**
 * What this replica says of its health: the server as a whole (''), while it answers whatever it is asked, and the service
 * "writer", while it is the writer.
 */
import { pause } from '../../lib/deadline.ts';
import type { Office } from './office.ts';

/** For so long a standby may fail to read the log to its end. */
const mostBehindMs = 5_000;
/** Longer than a takeover takes: until then requests that only a writer can answer wait for one. */
const mostWriterlessMs = 10_000;
const lookMs = 100;

/** Whether a replica answers what it is asked; undefined for the moment between standing by and writing. */
export function isFit({ writer, follower }: Office, writerlessMs: number): boolean | undefined {
  if (writer) return true;
  return follower && follower.behindMs < mostBehindMs && writerlessMs < mostWriterlessMs;
}

export interface HealthOptions {
  readonly office: Office;
  /** How long ago somebody was seen to be the writer. */
  readonly writerlessMs: () => number;
  readonly set: (service: '' | 'writer', status: 'SERVING' | 'NOT_SERVING') => void;
}

/** Keeps it up to date until the signal is aborted. */
export async function keepHealth({ office, writerlessMs, set }: HealthOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const fit = isFit(office, writerlessMs());
    if (fit !== undefined) set('', fit ? 'SERVING' : 'NOT_SERVING');
    set('writer', office.writer ? 'SERVING' : 'NOT_SERVING');
    await pause(lookMs, signal);
  }
}
