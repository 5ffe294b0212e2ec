/**
 * A segment: a sealed range of the log in the archive. It has three files in the folder of the ledger:
 *   <from>-<to>.<sha256>.events.ndjson.gz   its events, the exact lines of etcd
 *   <from>-<to>.<sha256>.state.ndjson.gz    the keys beside the log at its end
 *   <from>-<to>.<sha256>.manifest.json      its description, and the SHA-256 of both files
 * A file name contains the hash of the content, so a file is never overwritten with other content. The event SegmentSealed has
 * the hash of the manifest, so the hash chain covers all three files.
 */
import { createHash } from 'node:crypto';
import { IpledgerError } from '../../lib/errors.ts';
import type { SegmentSealed, Seq } from '../domain/events/event.ts';
import type { Head } from '../log/chain/chain.ts';
import type { StateAtHead } from '../log/reader/fold.ts';
import type { Archive } from './archive.ts';
import { endStateLines, parseEndState } from './end-state.ts';
import { packLines, unpackLines } from './gzip-lines.ts';

/** A file of the archive. */
interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The description of a segment. */
export interface Manifest {
  readonly ledger: string;
  /** At its end. */
  readonly epoch: number;
  readonly from: Seq;
  readonly to: Seq;
  readonly count: number;
  /** The times of its first and last event. */
  readonly since: string;
  readonly until: string;
  /** SHA-256 of the event before its first, and of its last. */
  readonly prev: string;
  readonly hash: string;
  readonly events: StoredFile;
  readonly state: StoredFile;
}

/** A segment as the log refers to it. */
export type SegmentReference = Pick<SegmentSealed['data'], 'from' | 'to' | 'manifest'>;

/** The content of a new segment. */
export interface SegmentContent {
  /** The head before its first event. */
  readonly before: Head;
  /** At its end. */
  readonly end: StateAtHead;
  readonly lines: readonly string[];
  readonly since: string;
}

/** The steps of writing a segment, for tests. */
export type WritingStep = 'events-written' | 'state-written' | 'manifest-written' | 'read-back';

/**
 * Writes a segment to the archive and reads it back. Idempotent.
 * @returns the data of its SegmentSealed event.
 * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED when the archive returns other content.
 */
export async function writeSegment(
  archive: Archive,
  { before, end, lines, since }: SegmentContent,
  signal: AbortSignal,
  after: (step: WritingStep) => void = () => undefined,
): Promise<SegmentSealed['data']> {
  const { ledger, epoch, seq: to, hash, at } = end.head;
  const from = before.seq + 1;
  const until = new Date(at).toISOString();
  const put = async (kind: string, content: Buffer): Promise<StoredFile> => {
    const sha256 = hashOf(content);
    const name = nameOf(ledger, { from, to }, sha256, kind);
    await archive.put(name, content, signal);
    return { name, bytes: content.length, sha256 };
  };
  const events = await put('events.ndjson.gz', await packLines(lines, signal));
  after('events-written');
  const state = await put('state.ndjson.gz', await packLines(endStateLines(end), signal));
  after('state-written');
  const span = { from, to, count: lines.length, since, until, prev: before.hash, hash };
  const manifest: Manifest = { ledger, epoch, ...span, events, state };
  const written = await put('manifest.json', Buffer.from(`${JSON.stringify(manifest)}\n`));
  after('manifest-written');
  for (const { name, sha256 } of [events, state, written]) await fetchFile(archive, name, sha256, signal);
  after('read-back');
  return { from, to, since, until, hash, manifest: written.sha256, archive: archive.location };
}

/** Reads a manifest. @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED when the file is missing or has another hash. */
export async function readManifest(
  archive: Archive,
  ledger: string,
  { from, to, manifest }: SegmentReference,
  signal: AbortSignal,
): Promise<Manifest> {
  const content = await fetchFile(archive, nameOf(ledger, { from, to }, manifest, 'manifest.json'), manifest, signal);
  return JSON.parse(content.toString('utf8')) as Manifest;
}

/** Reads the lines of a segment. Throws as `readManifest`. */
export async function readEvents(
  archive: Archive,
  { events, count }: Manifest,
  signal: AbortSignal,
): Promise<string[]> {
  const lines = await unpackLines(await fetchFile(archive, events.name, events.sha256, signal), signal);
  if (lines.length !== count) throw damaged(events.name, `it has ${lines.length} events, its manifest has ${count}`);
  return lines;
}

/** Reads the end state of a segment. Throws as `readManifest`. */
export async function readEndState(
  archive: Archive,
  { state, hash }: Manifest,
  signal: AbortSignal,
): Promise<StateAtHead> {
  const end = parseEndState(await unpackLines(await fetchFile(archive, state.name, state.sha256, signal), signal));
  if (end.head.hash !== hash) throw damaged(state.name, 'it is the state at another event');
  return end;
}

async function fetchFile(archive: Archive, name: string, sha256: string, signal: AbortSignal): Promise<Buffer> {
  const content = await archive.get(name, signal);
  if (!content) throw damaged(name, 'it does not exist');
  if (hashOf(content) !== sha256) throw damaged(name, `its SHA-256 is not ${sha256}`);
  return content;
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

const nameOf = (ledger: string, { from, to }: { from: Seq; to: Seq }, sha256: string, kind: string): string =>
  `${ledger}/${digits(from)}-${digits(to)}.${sha256.slice(0, 16)}.${kind}`;

const digits = (seq: Seq): string => String(seq).padStart(16, '0');

const damaged = (name: string, reason: string): IpledgerError =>
  new IpledgerError('LEDGER_DAMAGED', `the archive file ${name} is damaged: ${reason}. Restore it from a copy`);
