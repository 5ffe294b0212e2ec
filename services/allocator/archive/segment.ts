/**
 * A sealed stretch of the log as it lies in the archive, in three objects:
 *   <from>-<to>.<sha256>.events.ndjson.gz   its events, the very lines that stood in etcd
 *   <from>-<to>.<sha256>.state.ndjson.gz    the keys beside the log as they were at its end
 *   <from>-<to>.<sha256>.manifest.json      what it is, and the SHA-256 of both
 * under a folder named as the ledger. Names hold the hash of what they name, so nothing is ever overwritten by something
 * else; the event SegmentSealed holds the manifest's, so the chain vouches for all of it.
 */
import { createHash } from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';
import type { SegmentSealed, Seq } from '../domain/event.ts';
import type { Head } from '../ledger/chain.ts';
import type { Place } from '../ledger/fold.ts';
import type { Archive } from './archive.ts';
import { endStateLines, parseEndState } from './end-state.ts';
import { packLines, unpackLines } from './lines.ts';

/** An object of the archive. */
interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a segment is. */
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

/** A segment by what the log says of it. */
export type Sealed = Pick<SegmentSealed['data'], 'from' | 'to' | 'manifest'>;

/** A stretch of the log, ready to be written. */
export interface Stretch {
  /** The head before its first event. */
  readonly before: Head;
  /** At its end. */
  readonly end: Place;
  readonly lines: readonly string[];
  readonly since: string;
}

/** The steps of writing one, for whoever wants to know how far it came. */
export type WritingStep = 'events-written' | 'state-written' | 'manifest-written' | 'read-back';

/**
 * Writes a stretch to the archive and reads it back from there. Done again, it writes the same.
 * @returns what the log is to say of it.
 * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED when the archive gives back something else.
 */
export async function writeSegment(
  archive: Archive,
  { before, end, lines, since }: Stretch,
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

/** @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED when the archive has not what the log says. */
export async function readManifest(
  archive: Archive,
  ledger: string,
  { from, to, manifest }: Sealed,
  signal: AbortSignal,
): Promise<Manifest> {
  const content = await fetchFile(archive, nameOf(ledger, { from, to }, manifest, 'manifest.json'), manifest, signal);
  return JSON.parse(content.toString('utf8')) as Manifest;
}

/** The lines of a segment. As `readManifest` throws. */
export async function readEvents(
  archive: Archive,
  { events, count }: Manifest,
  signal: AbortSignal,
): Promise<string[]> {
  const lines = await unpackLines(await fetchFile(archive, events.name, events.sha256, signal), signal);
  if (lines.length !== count) throw damaged(events.name, `it holds ${lines.length} events, its manifest says ${count}`);
  return lines;
}

/** The state at a segment's end. As `readManifest` throws. */
export async function readEndState(archive: Archive, { state, hash }: Manifest, signal: AbortSignal): Promise<Place> {
  const place = parseEndState(await unpackLines(await fetchFile(archive, state.name, state.sha256, signal), signal));
  if (place.head.hash !== hash) throw damaged(state.name, 'it is the state of another place');
  return place;
}

async function fetchFile(archive: Archive, name: string, sha256: string, signal: AbortSignal): Promise<Buffer> {
  const content = await archive.get(name, signal);
  if (!content) throw damaged(name, 'it is not there');
  if (hashOf(content) !== sha256) throw damaged(name, `its SHA-256 is not ${sha256}`);
  return content;
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

const nameOf = (ledger: string, { from, to }: { from: Seq; to: Seq }, sha256: string, kind: string): string =>
  `${ledger}/${digits(from)}-${digits(to)}.${sha256.slice(0, 16)}.${kind}`;

const digits = (seq: Seq): string => String(seq).padStart(16, '0');

const damaged = (name: string, what: string): IpledgerError =>
  new IpledgerError('LEDGER_DAMAGED', `${name} of the archive can't be used: ${what}. Restore it from a copy`);
