/**
 * A segment: a sealed range of the log in the archive. Its files in the folder of the ledger:
 *   <from>-<to>.<sha256>.events.ndjson.gz   its events, the exact lines of etcd
 *   <from>-<to>.<sha256>.state.ndjson.gz    the end state: the keys beside the log at its end. Not each segment has one
 *   <from>-<to>.<sha256>.manifest.json      its description, and the SHA-256 of the other files
 * A file name contains the hash of the content, so a file is never overwritten with other content.
 * The event SegmentSealed has the hash of the manifest, so the hash chain covers all files.
 */
import { createHash } from 'node:crypto';
import { IpledgerError } from '../../lib/errors.ts';
import type { SealedSegment, Seq } from '../domain/values/ledger.ts';
import type { Head } from '../log/chain/chain.ts';
import type { StateAtHead } from '../log/reader/fold.ts';
import { type Archive, damagedFile, maxFileBytes } from './archive.ts';
import type { StoredKey } from '../log/store/ledger.ts';
import { endStateLines, parseEndState, splitLine } from './end-state.ts';
import { packLines, unpackLines } from './gzip-lines.ts';

/** A limit well above a real manifest, which has about 1 KiB. */
const maxManifestBytes = 64 << 10;
/** No event and no key of the ledger is longer. */
const maxLineBytes = 1 << 20;
const maxEventsBytes = 512 << 20;
/** An end state may be larger, because it is unpacked line by line. */
const maxStateBytes = 4 * 2 ** 30;

/** A file of the archive. */
interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The description of a segment, as a file of the archive. */
export interface Manifest {
  readonly ledger: string;
  /** The epoch at the segment's end. */
  readonly epoch: number;
  readonly from: Seq;
  readonly to: Seq;
  readonly count: number;
  /** The times of the segment's first and last event. */
  readonly since: string;
  readonly until: string;
  /** SHA-256 of the event before the segment, and of the segment's last event. */
  readonly prev: string;
  readonly hash: string;
  readonly events: StoredFile;
  readonly state?: StoredFile;
}

/** A segment as the log refers to it. */
export type SegmentReference = Pick<SealedSegment, 'from' | 'to' | 'manifest'>;

export interface SegmentContent {
  /** The head before the segment, and the head after it. */
  readonly before: Head;
  readonly end: Head;
  readonly lines: readonly string[];
  /** The time of the first event. */
  readonly since: string;
  /** Returns the end state for a segment whose events have `bytes`; undefined to write none. */
  readonly endState: (bytes: number) => Promise<StateAtHead | undefined>;
}

/** The steps of writing a segment, for tests. */
export type WritingStep = 'events-written' | 'state-written' | 'manifest-written' | 'read-back';

/**
 * Writes a segment to the archive and reads it back. Idempotent.
 * @returns the data of the SegmentSealed event.
 * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED if the archive returns other content.
 */
export async function writeSegment(
  archive: Archive,
  { before, end, lines, since, endState }: SegmentContent,
  signal: AbortSignal,
  after: (step: WritingStep) => void = () => undefined,
): Promise<SealedSegment> {
  const { ledger, epoch, seq: to, hash, at } = end;
  const from = before.seq + 1;
  const until = new Date(at).toISOString();
  const put = async (kind: string, content: Buffer): Promise<StoredFile> => {
    if (content.length > maxFileBytes)
      throw tooLarge(`${kind} of events ${from} to ${to}`, content.length, maxFileBytes);
    const sha256 = hashOf(content);
    const name = nameOf(ledger, { from, to }, sha256, kind);
    await archive.put(name, content, signal);
    return { name, bytes: content.length, sha256 };
  };
  const unpacked = lines.reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0);
  if (unpacked > maxEventsBytes) throw tooLarge(`events ${from} to ${to}`, unpacked, maxEventsBytes);
  const events = await put('events.ndjson.gz', await packLines(lines, signal));
  after('events-written');
  const stateAtEnd = await endState(events.bytes);
  const state = stateAtEnd && (await put('state.ndjson.gz', await packLines(endStateLines(stateAtEnd), signal)));
  if (state) after('state-written');
  const span = { from, to, count: lines.length, since, until, prev: before.hash, hash };
  const manifest: Manifest = { ledger, epoch, ...span, events, ...(state && { state }) };
  const written = await put('manifest.json', Buffer.from(`${JSON.stringify(manifest)}\n`));
  after('manifest-written');
  const all = [events, ...(state ? [state] : []), written];
  for (const file of all) await fetchFile(archive, file, signal);
  after('read-back');
  const files = { bytes: all.reduce((sum, { bytes }) => sum + bytes, 0), hasEndState: state !== undefined };
  return { from, to, since, until, hash, manifest: written.sha256, archive: archive.location, files };
}

/** @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED if the file is missing or has another hash */
export async function readManifest(
  archive: Archive,
  ledger: string,
  { from, to, manifest }: SegmentReference,
  signal: AbortSignal,
): Promise<Manifest> {
  const name = nameOf(ledger, { from, to }, manifest, 'manifest.json');
  const content = await fetchContent(archive, { name, bytes: maxManifestBytes, sha256: manifest }, signal);
  return JSON.parse(content.toString('utf8')) as Manifest;
}

/** Reads the lines of a segment. Throws as `readManifest`. */
export async function readEvents(
  archive: Archive,
  { events, count }: Manifest,
  signal: AbortSignal,
): Promise<string[]> {
  const content = await fetchFile(archive, events, signal);
  const lines: string[] = [];
  await readLines(events, async () => {
    for await (const part of unpackLines(content, { maxBytes: maxEventsBytes, maxLineBytes }, signal)) {
      for (const line of part) lines.push(line);
      if (lines.length > count) break;
    }
  });
  if (lines.length !== count) throw damagedFile(events.name, `it has not the ${count} events of its manifest`);
  return lines;
}

/** Reads the end state of a segment that has one. Throws as `readManifest`. */
export async function readEndState(
  archive: Archive,
  { from, to, state, hash }: Manifest,
  signal: AbortSignal,
): Promise<StateAtHead> {
  if (!state) throw damagedFile(`manifest of events ${from} to ${to}`, 'it has no end state');
  const content = await fetchFile(archive, state, signal);
  const lines = unpackLines(content, { maxBytes: maxStateBytes, maxLineBytes }, signal);
  const end = await readLines(state, () => parseEndState(lines));
  if (end.head.hash !== hash) throw damagedFile(state.name, 'it is the state at another event');
  return end;
}

/**
 * Reads the keys of a segment's end state in pages, each with whether it is the last page. Yields
 * nothing without an end state. Throws as `readManifest`.
 */
export async function* readEndStateKeys(
  archive: Archive,
  { state }: Manifest,
  signal: AbortSignal,
): AsyncGenerator<{ readonly keys: readonly StoredKey[]; readonly endState: 'part' | 'last' }> {
  if (!state) return;
  const content = await fetchFile(archive, state, signal);
  const parts = unpackLines(content, { maxBytes: maxStateBytes, maxLineBytes }, signal);
  for (;;) {
    const part = await readLines(state, () => parts.next());
    if (part.done === true) break;
    const keys = await readLines(state, async () => part.value.map(keyOfLine));
    yield { keys, endState: 'part' };
  }
  yield { keys: [], endState: 'last' };
}

function keyOfLine(line: string): StoredKey {
  const { key, value } = splitLine(line);
  return { key, text: value };
}

/** Checks that the archive has the sealed end state, if there is one. Throws as `readManifest`. */
export const assertEndState = async (archive: Archive, { state }: Manifest, signal: AbortSignal): Promise<void> =>
  void (state && (await fetchFile(archive, state, signal)));

/** Reports lines that cannot be parsed as damage of their file. */
async function readLines<Result>({ name }: StoredFile, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof IpledgerError || !(error instanceof Error) || error.name === 'AbortError') throw error;
    throw damagedFile(name, error.message);
  }
}

/** Reads a file, and checks its size and hash against the manifest. */
async function fetchFile(archive: Archive, file: StoredFile, signal: AbortSignal): Promise<Buffer> {
  if (file.bytes > maxFileBytes) throw damagedFile(file.name, `its manifest has ${file.bytes} bytes for it`);
  return fetchContent(archive, file, signal);
}

/** @param file `bytes` is the most that is read */
async function fetchContent(
  archive: Archive,
  { name, bytes, sha256 }: StoredFile,
  signal: AbortSignal,
): Promise<Buffer> {
  const content = await archive.get(name, bytes, signal);
  if (!content) throw damagedFile(name, 'it does not exist');
  if (hashOf(content) !== sha256) throw damagedFile(name, `its SHA-256 is not ${sha256}`);
  return content;
}

/** The error for a segment that readers would refuse because of its size. */
const tooLarge = (what: string, bytes: number, limit: number): IpledgerError =>
  new IpledgerError(
    'OVERLOADED',
    `${what}: ${bytes} bytes, and ${limit} is the limit of a segment: lower --segment-events`,
  );

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

export const folderOf = (ledger: string): string => `${ledger}/`;

/** The start of the names of a segment's files. The names sort in the order of the segments. */
export const namePrefix = (ledger: string, from: Seq): string => `${folderOf(ledger)}${digits(from)}-`;

const nameOf = (ledger: string, { from, to }: { from: Seq; to: Seq }, sha256: string, kind: string): string =>
  `${namePrefix(ledger, from)}${digits(to)}.${sha256.slice(0, 16)}.${kind}`;

const digits = (seq: Seq): string => String(seq).padStart(16, '0');
