/**
 * Verification: the log, then all other keys against its fold, at one revision of etcd. It trusts nothing that anybody else
 * made of the keys, and needs no more than to read them.
 *
 * Events are written once, so the log may be read as it stands; only its end and the other keys have to be of one revision,
 * which etcd then has to keep for the time of one pass over the claims, however long the log is.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import type { Head } from '../ledger/chain.ts';
import { wasCompacted } from '../ledger/compaction.ts';
import {
  endOf,
  headKey,
  logKey,
  logPrefix,
  parseHead,
  parseSegment,
  segmentKey,
  segmentPrefix,
} from '../ledger/keys.ts';
import type { KeyRange, KeyReader, Revision } from '../ledger/ledger.ts';
import type { Attested } from './attested.ts';
import type { Finding } from './finding.ts';
import { besideLog, KeyAudit } from './keys.ts';
import { LogAudit } from './log.ts';

/** Beyond so many, one more finding tells nobody anything. */
const mostFindings = 100;
/** How often etcd may compact the revision at which its keys are read. */
const mostTries = 5;
const linesAProgress = 2_000;
const eventsATurn = 200;

/** What was found. */
export interface Verdict {
  /** Behind the last event that is as it should be. */
  readonly head: Head;
  /** How many keys beside the log were compared; undefined when they were not: the log is damaged, or it is an export. */
  readonly keys: number | undefined;
  /** Against checkpoints, then in the order of the log, then of the keys; at most 100. Empty: all is as it should be. */
  readonly findings: readonly Finding[];
}

export interface VerifyOptions {
  readonly signal: AbortSignal;
  /** What the ledger is held to. Takes part in one verification only. */
  readonly attested?: Attested;
  /** Told now and then how far the log is read. */
  readonly onProgress?: (head: Head) => void;
  /** Waited for between pieces of work, so that whoever else is in the process has a turn. */
  readonly breathe?: () => Promise<void>;
}

/**
 * Verifies a ledger by its keys.
 * @throws IpledgerError UNAVAILABLE; POSITION_GONE where the log's beginning is sealed, and the archive not at hand; NOT_IMPLEMENTED
 *   where it goes on with events that only a newer program reads; AbortError.
 */
export async function verifyKeys(reader: KeyReader, options: VerifyOptions): Promise<Verdict> {
  const audit = new LogAudit();
  try {
    const finding = await persistently(audit, () => readLog(reader, audit, options));
    if (finding) return await stopped(reader, audit, options, finding);
    return await persistently(audit, () => compareAtOneRevision(reader, audit, options));
  } catch (error) {
    if (!(error instanceof IpledgerError) || error.code !== 'LEDGER_DAMAGED') throw error;
    // What the archive holds is not what was sealed.
    return verdict(audit, options, [{ key: logKey(audit.head.seq + 1), what: error.message }]);
  }
}

/** The verdict on a log that does not go on as it should: nothing more of it is read. */
async function stopped(reader: KeyReader, audit: LogAudit, options: VerifyOptions, finding: Finding): Promise<Verdict> {
  await refuseSealed(reader, audit.head.seq + 1, options.signal);
  return verdict(audit, options, [finding]);
}

/** That an event is not in etcd is no damage if it was sealed, be it while we were reading. */
async function refuseSealed(reader: KeyReader, seq: Seq, signal: AbortSignal): Promise<void> {
  // An archive shows what is sealed before a live event. There always is one: it says that the others are sealed.
  const next = await firstKey(reader, { from: logKey(seq), end: endOf(logPrefix) }, signal);
  if (next === logKey(seq) || next === undefined) return;
  for await (const { keys } of reader.keys({ from: segmentPrefix, end: segmentKey(seq + 1) }, signal))
    for (const { key, text } of keys) {
      const segment = readIf(() => parseSegment(key, text));
      if (segment && segment.from <= seq && seq <= segment.to)
        throw new IpledgerError(
          'POSITION_GONE',
          `event ${seq} is sealed, in ${segment.archive}: name that by --archive, or ask an allocator that has it`,
        );
    }
}

/** undefined for a range without keys. */
async function firstKey(reader: KeyReader, range: KeyRange, signal: AbortSignal): Promise<string | undefined> {
  for await (const { keys } of reader.keys(range, signal)) if (keys[0]) return keys[0].key;
  return undefined;
}

/** When etcd compacts the revision that is being read, goes on from the same place at a newer one. */
async function persistently<Result>(audit: LogAudit, read: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const { seq } = audit.head;
    try {
      return await read();
    } catch (error) {
      if (!wasCompacted(error) || (tries >= mostTries && audit.head.seq === seq)) throw error;
    }
  }
}

/** Verifies an export by itself. @throws IpledgerError INVALID_REQUEST for what is none. */
export async function verifyLines(lines: AsyncIterable<string>, options: VerifyOptions): Promise<Verdict> {
  const audit = new LogAudit();
  for await (const line of lines) {
    options.signal.throwIfAborted();
    const finding = take(audit, audit.keyOf(line), line, options);
    if (finding) return verdict(audit, options, [finding]);
    if (audit.head.seq % linesAProgress === 0) options.onProgress?.(audit.head);
  }
  const open = audit.end();
  options.attested?.end(audit.head);
  return verdict(audit, options, open ? [open] : []);
}

function take(audit: LogAudit, key: string, text: string, { attested }: VerifyOptions): Finding | undefined {
  const finding = audit.next(key, text);
  if (!finding && audit.last) attested?.look(audit.head, audit.last);
  return finding;
}

const verdict = (
  { head }: LogAudit,
  { attested }: VerifyOptions,
  findings: readonly Finding[],
  keys?: number,
): Verdict => ({ head, keys, findings: [...(attested?.findings ?? []), ...findings].slice(0, mostFindings) });

/** Reads the log up to its present end, or to its end at a revision. */
async function readLog(
  reader: KeyReader,
  audit: LogAudit,
  options: VerifyOptions,
  revision?: Revision,
): Promise<Finding | undefined> {
  const range = { from: audit.nextKey === logKey(1) ? logPrefix : audit.nextKey, end: endOf(logPrefix) };
  for await (const page of reader.keys(range, options.signal, revision)) {
    for (const { key, text } of page.keys) {
      const finding = take(audit, key, text, options);
      if (finding) return finding;
      if (audit.head.seq % eventsATurn === 0) await options.breathe?.();
    }
    options.onProgress?.(audit.head);
  }
  return undefined;
}

async function compareAtOneRevision(reader: KeyReader, audit: LogAudit, options: VerifyOptions): Promise<Verdict> {
  const { signal } = options;
  const { revision, text } = await presentHead(reader, signal);
  const said = text === undefined ? undefined : readIf(() => parseHead(text));
  const unread = await readLog(reader, audit, options, revision);
  const behind = unread ?? audit.end(said?.hash) ?? faultInEnd(audit.head, text);
  if (behind) return await stopped(reader, audit, options, behind);

  const keys = new KeyAudit(audit.state, () => audit.head);
  const findings: Finding[] = [];
  const note = (finding: Finding | undefined): void => {
    if (finding && findings.length < mostFindings) findings.push(finding);
  };
  let count = 0;
  for (const range of besideLog)
    for await (const page of reader.keys(range, signal, revision))
      for (const each of page.keys) {
        count++;
        note(keys.look(each));
      }
  if (audit.head.seq > 0) for (const finding of keys.missing()) note(finding);
  options.attested?.end(audit.head);
  return verdict(audit, options, findings, count);
}

async function presentHead(reader: KeyReader, signal: AbortSignal): Promise<{ revision: Revision; text?: string }> {
  for await (const { revision, keys } of reader.keys({ from: headKey, end: `${headKey}\0` }, signal))
    return { revision, ...(keys[0] && { text: keys[0].text }) };
  throw new Error('a range has at least one page');
}

/** Whether the log ends where the head says. Unless it does, its fold is no measure for the other keys. */
function faultInEnd(end: Head, text: string | undefined): Finding | undefined {
  if (text === undefined)
    return end.seq === 0 ? undefined : { key: headKey, what: `it is missing, and there are ${end.seq} events` };
  const head = readIf(() => parseHead(text));
  if (!head)
    return { key: headKey, what: `it is no head, or not written as ipledger writes it: ${text.slice(0, 200)}` };
  const [last, next] = [logKey(end.seq), logKey(end.seq + 1)];
  if (head.seq > end.seq)
    return {
      key: next,
      what: `event ${end.seq + 1} is missing: the log ends here, and the head tells of ${head.seq} events`,
    };
  if (head.seq < end.seq) return { key: logKey(head.seq + 1), what: `event ${head.seq + 1} stands behind the head` };
  if (head.hash === end.hash) return undefined; // the rest of it is compared as any key's value
  const hashes = `its bytes hash to ${end.hash}, and the head says ${head.hash}`;
  return { key: last, what: `event ${end.seq} is not the one that the head tells of: ${hashes}` };
}

function readIf<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
