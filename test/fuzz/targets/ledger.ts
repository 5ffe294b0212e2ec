/** The inputs of the ledger: events, other keys in etcd, segments, checkpoints, exports. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { endStateLines, parseEndState, splitLine } from '../../../ledger/archive/end-state.ts';
import { unpackLines } from '../../../ledger/archive/gzip-lines.ts';
import { parseReadableCheckpoints, signCheckpoint } from '../../../ledger/audit/checkpoints/checkpoint.ts';
import { verifiedSigners } from '../../../ledger/audit/checkpoints/signed-note.ts';
import { generateKey, parseSignerKey, parseVerifierKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import { KeyVerifier } from '../../../ledger/audit/verification/key-verifier.ts';
import { verifyExport } from '../../../ledger/audit/verification/verify-ledger.ts';
import { evolve } from '../../../ledger/domain/events/registry.ts';
import { initialState } from '../../../ledger/domain/state/state.ts';
import { permanent, UndoLog } from '../../../ledger/domain/state/undo-log.ts';
import { advanceHead, emptyHead, parseEvent, withReadableData } from '../../../ledger/log/chain/chain.ts';
import type { StateAtHead } from '../../../ledger/log/reader/fold.ts';
import { parseEnded } from '../../../ledger/log/store/ended-keys.ts';
import { claimNameOf, seqOfKey } from '../../../ledger/log/store/keys.ts';
import { decodeRangeReply } from '../../../ledger/log/store/range-decoding.ts';
import {
  expectedClaimText,
  parseAnyHead,
  parseClaim,
  parseDropped,
  parseFreeze,
  parseLogStart,
  parsePool,
  parseSegment,
  parseSubnet,
  readClaim,
} from '../../../ledger/log/store/stored-values.ts';
import { assertClear, type FuzzTarget } from '../fuzz-target.ts';

const never = new AbortController().signal;
const maxValueBytes = 64 << 10;
const golden = join(import.meta.dirname, '..', '..', 'golden');

/** The logs of all schema versions, each in two parts. */
const goldenLogs = (): string[] =>
  readdirSync(golden)
    .filter((name) => name.startsWith('events-'))
    .map((name) => readFileSync(join(golden, name), 'utf8'));
const goldenLines = (): string[] => [...new Set(goldenLogs().flatMap((log) => log.trimEnd().split('\n')))];
const newestLog = (): string => goldenLogs().at(-1) ?? '';

/** The state of the newest log. */
let newestState: StateAtHead | undefined;
function newest(): StateAtHead {
  if (newestState) return newestState;
  const state = initialState();
  let head = emptyHead;
  for (const line of newestLog().trimEnd().split('\n')) {
    const event = parseEvent(line);
    head = advanceHead(head, event);
    evolve(state, event.sequenced, permanent);
  }
  return (newestState = { state, head });
}

/** The lines of the keys of the newest log, of each kind. */
let endStateOfNewest: readonly string[] | undefined;
const endState = (): readonly string[] => (endStateOfNewest ??= [...endStateLines(newest())]);

/** The values of the keys that begin with a prefix. */
const keysOf = (prefix: string): string[] =>
  endState()
    .map((line) => splitLine(line))
    .filter(({ key }) => key.startsWith(`/ipledger/v1/${prefix}`))
    .map(({ value }) => value);

interface KeyKind {
  readonly name: string;
  readonly seeds: () => readonly string[];
  readonly parse: (text: string) => unknown;
}

const claimName = { subnet: 'macvlan', address: '172.17.0.20' };
const claimKey = '/ipledger/v1/addr/macvlan/172.17.0.20';

/** Restores a claim that its parser accepts, as at a start. */
function restoreClaim(text: string): unknown {
  const claim = parseClaim(claimName, text);
  expectedClaimText(text, claim);
  return restored([...configuration(), `{"key":"${claimKey}","value":${text}}`]);
}

const configuration = (): string[] => endState().filter((line) => !line.startsWith('{"key":"/ipledger/v1/addr/'));

async function* pagesOf(lines: readonly string[]): AsyncGenerator<readonly string[]> {
  await Promise.resolve();
  yield lines;
}
const restored = (lines: readonly string[]): Promise<unknown> => parseEndState(pagesOf(lines));

const segment = {
  seq: 30,
  from: 1,
  to: 20,
  since: '2026-01-31T08:00:01.001Z',
  until: '2026-01-31T08:00:20.001Z',
  hash: 'a'.repeat(64),
  manifest: 'b'.repeat(64),
  archive: 'folder /archive',
  files: { bytes: 700, hasEndState: true },
};
const freeze = { epoch: 1, seq: 7, hash: 'ab', by: 'ipledger://watcher', at: '2026-01-31T08:00:01.001Z' };

const keyKinds: readonly KeyKind[] = [
  { name: 'claim', seeds: () => keysOf('addr/'), parse: restoreClaim },
  { name: 'found-claim', seeds: () => keysOf('addr/'), parse: (text) => readClaim(claimKey, text) },
  { name: 'verified-claim', seeds: () => keysOf('addr/'), parse: (text) => verifyKey(claimKey, text) },
  {
    name: 'verified-subnet',
    seeds: () => keysOf('subnet/'),
    parse: (text) => verifyKey('/ipledger/v1/subnet/macvlan', text),
  },
  { name: 'head', seeds: () => keysOf('head'), parse: parseAnyHead },
  { name: 'subnet', seeds: () => keysOf('subnet/'), parse: (text) => restoreConfiguration('subnet/any', text) },
  { name: 'pool', seeds: () => keysOf('pool/'), parse: (text) => restoreConfiguration('pool/any', text) },
  { name: 'dropped', seeds: () => ['{"seqs":[7,5]}'], parse: (text) => parseDropped('/ipledger/v1/dropped/a', text) },
  { name: 'log-start', seeds: () => ['{"seq":21}'], parse: parseLogStart },
  { name: 'freeze', seeds: () => [JSON.stringify(freeze)], parse: parseFreeze },
  {
    name: 'segment',
    seeds: () => [JSON.stringify(segment)],
    parse: (text) => parseSegment('/ipledger/v1/segment/0000000000000001', text),
  },
  {
    name: 'ended',
    seeds: () => ['{"pods":["0123456789abcdef","fedcba9876543210"]}'],
    parse: (text) => parseEnded([{ key: '/ipledger/v1/ended/0000000000000000', text }]),
  },
];

function restoreConfiguration(key: string, text: string): unknown {
  const full = `/ipledger/v1/${key}`;
  if (key.startsWith('subnet')) parseSubnet(full, text);
  else parsePool(full, text);
  return restored([`{"key":"${full}","value":${text}}`, ...configuration()]);
}

async function verifyLines(text: string): Promise<unknown> {
  const lines = async function* (): AsyncGenerator<string> {
    await Promise.resolve();
    yield* text.split('\n').filter(Boolean);
  };
  const result = await verifyExport(lines(), { signal: never });
  for (const { what } of result.findings) assertClear(what);
  return result;
}

/** Applies an event of another program to the state of the newest log, and takes it back. */
function applyEvent(text: string): unknown {
  const { envelope, sequenced } = parseEvent(text);
  const undoLog = new UndoLog();
  try {
    withReadableData(envelope, () => evolve(newest().state, sequenced, undoLog));
  } finally {
    undoLog.rollBack();
  }
  return { envelope, sequenced };
}

/** Compares a key with the fold of the newest log, as a verification does. */
function verifyKey(key: string, text: string): unknown {
  const { state, head } = newest();
  const finding = new KeyVerifier(state, () => head).findingFor(key, text);
  if (finding) assertClear(finding.what);
  return finding;
}

const signer = parseSignerKey(generateKey('allocator.example').signer);
const head = { ledger: '01KG9AG8M00000000000000001', epoch: 1, seq: 42, hash: 'ab'.repeat(32), at: 1_769_846_441_000 };

function readCheckpoints(text: string): unknown {
  const { checkpoints, faults } = parseReadableCheckpoints(text);
  for (const fault of faults) assertClear(fault);
  for (const { note } of checkpoints)
    try {
      verifiedSigners(note, [signer.verifier]);
    } catch (error) {
      assertClear((error as Error).message);
    }
  return checkpoints;
}

/** A RangeResponse of etcd with a key; its text has fewer than 128 bytes. */
function rangeReply(key: string, text: string): Buffer {
  const bytes = (tag: number, content: Buffer): Buffer => Buffer.concat([Buffer.of(tag, content.length), content]);
  const pair = Buffer.concat([bytes(0x0a, Buffer.from(key)), Buffer.of(0x18, 0x07), bytes(0x2a, Buffer.from(text))]);
  return Buffer.concat([bytes(0x0a, Buffer.of(0x18, 0x09)), bytes(0x12, pair), Buffer.of(0x18, 0x01)]);
}

async function unpackEndState(packed: Buffer): Promise<unknown> {
  return parseEndState(unpackLines(packed, { maxBytes: 1 << 20, maxLineBytes: 64 << 10 }, never));
}

export const ledgerTargets: readonly FuzzTarget[] = [
  {
    name: 'ledger/event',
    format: 'json',
    maxBytes: maxValueBytes,
    seeds: goldenLines,
    decode: (input) => applyEvent(input.toString()),
  },
  {
    name: 'ledger/export',
    format: 'lines',
    maxBytes: maxValueBytes,
    seeds: goldenLogs,
    decode: (input) => verifyLines(input.toString()),
  },
  ...keyKinds.map(({ name, seeds, parse }): FuzzTarget => ({
    name: `ledger/${name}`,
    format: 'json',
    maxBytes: maxValueBytes,
    seeds,
    decode: (input) => parse(input.toString()),
  })),
  {
    name: 'ledger/key',
    format: 'text',
    maxBytes: 1 << 10,
    seeds: () => [claimKey, '/ipledger/v1/log/0000000000000042'],
    decode: (input) => [seqOfKey(input.toString()), claimNameOf(input.toString())],
  },
  {
    name: 'ledger/end-state',
    format: 'lines',
    maxBytes: maxValueBytes,
    seeds: () => [endState().join('\n')],
    decode: (input) => restored(input.toString().split('\n')),
    rejections: [SyntaxError],
    valuesPerByte: 20,
  },
  {
    name: 'ledger/packed-end-state',
    format: 'bytes',
    maxBytes: maxValueBytes,
    seeds: () => [gzipSync(`${endState().join('\n')}\n`)],
    decode: unpackEndState,
    rejections: [SyntaxError, Error],
    valuesPerByte: 400,
  },
  {
    name: 'ledger/range-reply',
    format: 'bytes',
    maxBytes: maxValueBytes,
    seeds: () => [rangeReply('/ipledger/v1/floor', '{"seq":21}')],
    decode: decodeRangeReply,
  },
  {
    name: 'ledger/checkpoints',
    format: 'lines',
    maxBytes: maxValueBytes,
    seeds: () => [`${signCheckpoint(head, signer)}\n${signCheckpoint(head, signer)}`],
    decode: (input) => readCheckpoints(input.toString()),
  },
  {
    name: 'ledger/verifier-key',
    format: 'text',
    maxBytes: 4 << 10,
    seeds: () => [signer.verifier.text],
    decode: (input) => parseVerifierKey(input.toString()).id,
  },
  {
    name: 'ledger/signer-key',
    format: 'text',
    maxBytes: 4 << 10,
    seeds: () => [generateKey('allocator.example').signer],
    decode: (input) => parseSignerKey(input.toString()).verifier.id,
  },
];
