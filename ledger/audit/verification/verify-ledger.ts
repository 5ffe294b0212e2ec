/**
 * Verifies the log, then all other keys against the fold of the log. It uses no other reader of the
 * keys, and needs only read access.
 *
 * Events never change, so most of the log can be read at any revision of etcd. Only the end of the
 * log and the other keys must be read at one revision. So etcd has to keep that revision only for
 * one pass over the claims, however long the log is.
 */
import { IpledgerError, isPositionGone } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import type { Head } from '../../log/chain/chain.ts';
import type { StateAtHead } from '../../log/reader/fold.ts';
import { isCompactedError } from '../../log/store/compaction.ts';
import { refuseDroppedEvent } from '../../log/store/etcd-ledger.ts';
import { prefixEnd, headKey, logKey, logPrefix, segmentKey, segmentPrefix } from '../../log/store/keys.ts';
import { parseAnyHead, parseSegment, UnfinishedReplay } from '../../log/store/stored-values.ts';
import type { KeyPage, KeyReader, Revision, StoredKey } from '../../log/store/ledger.ts';
import { readFirstKey } from '../../log/store/read-key.ts';
import type { CheckpointVerifier } from './checkpoint-verifier.ts';
import type { Finding } from './finding.ts';
import { rangesBesideLog, KeyVerifier } from './key-verifier.ts';
import { LogVerifier } from './log-verifier.ts';

/** A limit, because more findings give no new information. */
const maxFindings = 100;
/** The most attempts without progress when etcd compacts the revision that is being read. */
const maxAttempts = 5;
const linesPerProgress = 2_000;
const eventsPerTurn = 200;

export interface VerificationResult {
  /** The head at which verification began, if older events were dropped. */
  readonly start?: Head;
  /** The head after the last correct event. */
  readonly head: Head;
  /**
   * The number of compared keys beside the log. Undefined for a damaged log and for an export,
   * which has no such keys.
   */
  readonly comparedKeys: number | undefined;
  /** About checkpoints, then the log, then other keys; at most 100. Empty if all is correct. */
  readonly findings: readonly Finding[];
}

export interface VerifyOptions {
  readonly signal: AbortSignal;
  /** The checkpoints to compare with. Can be used only once. */
  readonly checkpointVerifier?: CheckpointVerifier;
  /** The state to begin with, which is changed. Default: before the first event. */
  readonly start?: StateAtHead;
  /** A head that an earlier verification reached, at or after `start`. */
  readonly verified?: Head;
  /** Called periodically with the position in the log. */
  readonly onProgress?: (head: Head) => void;
  /** Awaited regularly, to yield to other work of the process. */
  readonly yieldTurn?: () => Promise<void>;
}

/** A ledger whose older events may have been dropped. */
export interface VerifiedLedger extends KeyReader {
  /** The state after the last dropped event, if that event is after `after`; else undefined. */
  droppedState?(after: Seq, signal: AbortSignal): Promise<StateAtHead | undefined>;
}

/**
 * Verifies a ledger by its keys. If older events were dropped, it begins with the state after them.
 * That is safe: the event SegmentSealed has the hash of that state, the event HistoryDropped
 * records how far the history was dropped, and both events are in the verified part.
 * @throws IpledgerError UNAVAILABLE; POSITION_GONE if events are sealed and there is no archive;
 * NOT_IMPLEMENTED at events that only a newer program can read; AbortError.
 */
export async function verifyLedger(reader: VerifiedLedger, options: VerifyOptions): Promise<VerificationResult> {
  for (let attempts = 1; ; attempts++)
    try {
      return await verifyOnce(reader, options);
    } catch (error) {
      // The writer may have dropped the events that are being read.
      if (!reader.droppedState || !isPositionGone(error) || attempts >= maxAttempts) throw error;
    }
}

async function verifyOnce(reader: VerifiedLedger, options: VerifyOptions): Promise<VerificationResult> {
  let audit = new LogVerifier(options.start);
  try {
    const start = await reader.droppedState?.(audit.head.seq, options.signal);
    if (start) {
      options.checkpointVerifier?.begin(start.head);
      audit = new LogVerifier(start, start.head);
      const older = await readFirstKey(reader, { from: logPrefix, end: audit.nextKey }, options.signal);
      if (older) return resultOf(audit, options, [{ key: older.key, what: beforeHistory(start.head) }]);
    }
    const finding = await retryIfCompacted(audit, () => readLog(reader, audit, options));
    if (finding) return await stopAt(finding, reader, audit, options);
    return await retryIfCompacted(audit, () => compareAtOneRevision(reader, audit, options));
  } catch (error) {
    if (!(error instanceof IpledgerError) || error.code !== 'LEDGER_DAMAGED') throw error;
    // The archive differs from what was sealed.
    return resultOf(audit, options, [{ key: logKey(audit.head.seq + 1), what: error.message }]);
  }
}

const beforeHistory = ({ seq }: Head): string =>
  `the history begins with event ${seq + 1}: another program wrote this key`;

/** Builds the result for a log with a fault. The rest of the log is not read. */
async function stopAt(
  finding: Finding,
  reader: KeyReader,
  audit: LogVerifier,
  options: VerifyOptions,
): Promise<VerificationResult> {
  await refuseSealed(reader, audit.head.seq + 1, options.signal);
  return resultOf(audit, options, [finding]);
}

/**
 * Accepts a missing event that was sealed, even if it was sealed during the verification.
 * @throws IpledgerError POSITION_GONE
 */
async function refuseSealed(reader: KeyReader, seq: Seq, signal: AbortSignal): Promise<void> {
  const first = await readFirstKey(reader, { from: segmentPrefix, end: prefixEnd(segmentPrefix) }, signal);
  const oldest = first && tryParse(() => parseSegment(first.key, first.text));
  refuseDroppedEvent(seq, oldest ? [oldest] : []);
  // With an archive, the reader also returns sealed events. An event always follows them: the event
  // that sealed them.
  const next = await readFirstKey(reader, { from: logKey(seq), end: prefixEnd(logPrefix) }, signal);
  if (!next || next.key === logKey(seq)) return;
  for await (const { keys } of reader.keys({ from: segmentPrefix, end: segmentKey(seq + 1) }, signal))
    for (const { key, text } of keys) {
      const segment = tryParse(() => parseSegment(key, text));
      if (segment && segment.from <= seq && seq <= segment.to)
        throw new IpledgerError(
          'POSITION_GONE',
          `event ${seq} is sealed, in ${segment.archive}: give the archive by --archive, or use an allocator that has it`,
        );
    }
}

/**
 * Continues the verification at a newer revision if etcd compacts the revision that is being read.
 */
async function retryIfCompacted<Result>(audit: LogVerifier, read: () => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts++) {
    const { seq } = audit.head;
    try {
      return await read();
    } catch (error) {
      if (!isCompactedError(error) || (attempts >= maxAttempts && audit.head.seq === seq)) throw error;
    }
  }
}

/** Verifies an export. @throws IpledgerError INVALID_REQUEST for any other file. */
export async function verifyExport(lines: AsyncIterable<string>, options: VerifyOptions): Promise<VerificationResult> {
  const audit = new LogVerifier();
  for await (const line of lines) {
    options.signal.throwIfAborted();
    const finding = checkLine(audit, { key: audit.keyOf(line), text: line }, options);
    if (finding) return resultOf(audit, options, [finding]);
    if (audit.head.seq % linesPerProgress === 0) options.onProgress?.(audit.head);
  }
  const faultAtEnd = audit.checkEnd();
  options.checkpointVerifier?.checkEnd(audit.head);
  return resultOf(audit, options, faultAtEnd ? [faultAtEnd] : []);
}

function checkLine(
  audit: LogVerifier,
  line: StoredKey,
  { checkpointVerifier, verified }: VerifyOptions,
): Finding | undefined {
  const finding = audit.checkLine(line) ?? (verified && faultSince(verified, audit.head));
  if (!finding && audit.last) checkpointVerifier?.checkEvent(audit.head, audit.last);
  return finding;
}

/** Whether an event differs from the one that an earlier verification read, as after a restore. */
function faultSince(verified: Head, { epoch, seq, hash }: Head): Finding | undefined {
  if (seq !== verified.seq || epoch !== verified.epoch || hash === verified.hash) return undefined;
  const what = `event ${seq} or an earlier one was changed since the verification of ${new Date(verified.at).toISOString()}: its hash was ${verified.hash}`;
  return { key: logKey(seq), what };
}

const resultOf = (
  { head, historyStart }: LogVerifier,
  { checkpointVerifier }: VerifyOptions,
  findings: readonly Finding[],
  keys?: number,
): VerificationResult => ({
  head,
  ...(historyStart && { start: historyStart }),
  comparedKeys: keys,
  findings: [...(checkpointVerifier?.findings ?? []), ...findings].slice(0, maxFindings),
});

/** Reads the log to its end, at present or at a revision. */
async function readLog(
  reader: KeyReader,
  audit: LogVerifier,
  options: VerifyOptions,
  revision?: Revision,
): Promise<Finding | undefined> {
  const range = { from: audit.nextKey === logKey(1) ? logPrefix : audit.nextKey, end: prefixEnd(logPrefix) };
  let endState: KeyVerifier | undefined;
  for await (const page of reader.keys(range, options.signal, revision)) {
    if (page.endState) {
      endState ??= new KeyVerifier(audit.state, () => audit.head);
      const finding = faultInEndState(endState, page, audit.head);
      if (finding) return finding;
      if (page.endState === 'last') endState = undefined;
      await options.yieldTurn?.();
      continue;
    }
    for (const line of page.keys) {
      const finding = checkLine(audit, line, options);
      if (finding) return finding;
      if (audit.head.seq % eventsPerTurn === 0) await options.yieldTurn?.();
    }
    options.onProgress?.(audit.head);
  }
  return undefined;
}

/** Compares a page of a segment's end state with the fold up to the segment's last event. */
function faultInEndState(verifier: KeyVerifier, { keys, endState }: KeyPage, { seq }: Head): Finding | undefined {
  for (const each of keys) {
    const finding = verifier.checkKey(each);
    if (finding) return inEndState(finding, seq);
  }
  if (endState === 'last') for (const missing of verifier.missing()) if (missing) return inEndState(missing, seq);
  return undefined;
}

const inEndState = (finding: Finding, seq: Seq): Finding => ({
  ...finding,
  what: `in the archived state after event ${seq}: ${finding.what}`,
});

async function compareAtOneRevision(
  reader: KeyReader,
  audit: LogVerifier,
  options: VerifyOptions,
): Promise<VerificationResult> {
  const { signal } = options;
  const { revision, text } = await readHead(reader, signal);
  const head = text === undefined ? undefined : tryParse(() => parseAnyHead(text));
  const faultInLog = await readLog(reader, audit, options, revision);
  const fault = faultInLog ?? audit.checkEnd(head?.hash) ?? faultInEnd(audit.head, text);
  if (fault) return await stopAt(fault, reader, audit, options);

  const keys = new KeyVerifier(audit.state, () => audit.head);
  const findings: Finding[] = [];
  const report = (finding: Finding | undefined): void => {
    if (finding && findings.length < maxFindings) findings.push(finding);
  };
  let count = 0;
  for (const range of rangesBesideLog)
    for await (const page of reader.keys(range, signal, revision))
      for (const each of page.keys) {
        count++;
        report(keys.checkKey(each));
      }
  if (audit.head.seq > 0) for (const finding of keys.missing()) report(finding);
  options.checkpointVerifier?.checkEnd(audit.head);
  return resultOf(audit, options, findings, count);
}

async function readHead(reader: KeyReader, signal: AbortSignal): Promise<{ revision: Revision; text?: string }> {
  for await (const { revision, keys } of reader.keys({ from: headKey, end: `${headKey}\0` }, signal))
    return { revision, ...(keys[0] && { text: keys[0].text }) };
  throw new Error('a range has at least one page');
}

/** Whether the log ends at the head. If not, its fold cannot be compared with the other keys. */
function faultInEnd(end: Head, text: string | undefined): Finding | undefined {
  if (text === undefined)
    return end.seq === 0 ? undefined : { key: headKey, what: `it is missing, but there are ${end.seq} events` };
  const head = tryParse(() => parseAnyHead(text));
  if (head?.claims !== undefined) return { key: headKey, what: new UnfinishedReplay(head).message };
  if (!head)
    return { key: headKey, what: `it is not a valid head, or not in the format of ipledger: ${text.slice(0, 200)}` };
  const [last, next] = [logKey(end.seq), logKey(end.seq + 1)];
  if (head.seq > end.seq)
    return {
      key: next,
      what: `event ${end.seq + 1} is missing: the log ends here, but the head has ${head.seq} events`,
    };
  if (head.seq < end.seq) return { key: logKey(head.seq + 1), what: `event ${head.seq + 1} is after the head` };
  if (head.hash === end.hash) return undefined; // the other fields are compared as for any key
  return {
    key: last,
    what: `event ${end.seq} differs from the head: its hash is ${end.hash}, that of the head ${head.hash}`,
  };
}

function tryParse<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
