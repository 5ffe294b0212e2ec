/**
 * An append as one etcd transaction: its compares, its puts, and the meaning of the reply. Review
 * notes: docs/invariants.md, "The head is compared".
 */
import { GRPCInvalidArgumentError, type ICompare, type IKeyValue, type ITxnResponse } from 'etcd3';
import { errorMessage } from '../../../lib/errors.ts';
import type { Segment } from '../../domain/values/ledger.ts';
import type { Head } from '../chain/chain.ts';
import {
  addressKey,
  droppedKey,
  endedKey,
  prefixEnd,
  logStartKey,
  freezeKey,
  headKey,
  logKey,
  logPrefix,
  poolKey,
  segmentKey,
  segmentPrefix,
  subnetKey,
  writerKey,
} from './keys.ts';
import { epochPrefix, logStartText, headText, segmentText } from './stored-values.ts';
import type { AppendOutcome, AppendLimits, Batch } from './ledger.ts';
import type { Compare, Put, Read, Transaction } from './txn-encoding.ts';

/** Lower than etcd's defaults (128 operations, 1.5 MiB), to leave room for keys and framing. */
export const etcdLimits: AppendLimits = { ops: 128, bytes: 1 << 20 };

export const toBytes = (text: string): Buffer => Buffer.from(text, 'utf8');
export const valueText = ({ value }: IKeyValue): string => value.toString('utf8');

/** The error text of the etcd client, without the text that grpc-js adds to connection errors. */
export function etcdErrorMessage(error: unknown): string {
  const message = errorMessage(error).replace(
    /^\d+ [A-Z_]+: (No connection established\. Last error: (?:Error: )?)?(.*?)([.,]? Resolution note: .*)?$/s,
    (_, unconnected: string | undefined, reason: string) =>
      // grpc-js has no reason before its first attempt ends.
      unconnected ? `no connection${reason === 'null' ? '' : `: ${reason}`}` : reason,
  );
  const refusal = refusalIn(message);
  return refusal === undefined ? message : `${message}. ${refusal}`;
}

/** The alarms that make etcd read-only: name, code, a part of the error, and what to do. */
export const writeAlarms = [
  // First, because the remedy of the other alarm disarms both.
  {
    alarm: 'CORRUPT',
    reason: 'etcd-corrupt',
    refusal: 'corrupt cluster',
    message: 'etcd has the alarm CORRUPT: no address can be allocated or released. Follow the runbook IpledgerNoWrites',
  },
  {
    alarm: 'NOSPACE',
    reason: 'etcd-full',
    refusal: 'database space exceeded',
    message:
      'etcd is full: no address can be allocated or released. Compact and defragment it, then run: etcdctl alarm disarm',
  },
] as const;

const refusalIn = (text: string): string | undefined =>
  writeAlarms.find(({ refusal }) => text.includes(refusal))?.message;

/** The transaction of an append. */
export const appendTransaction = (batch: Batch): Transaction => ({
  compares: batchCompares(batch),
  puts: batchPuts(batch),
  reads: conflictReads(batch),
});

function batchCompares({ head, claims, segments, requiresUnfrozen, writer }: Batch): Compare[] {
  const compares: Compare[] = [
    { key: headKey, equals: head.before.seq === 0 ? absent : { value: headText(head.before) } },
    // etcd compares each key of the range, and an empty range passes. So an append never overwrites
    // an event.
    { key: logKey(head.before.seq + 1), rangeEnd: prefixEnd(logPrefix), equals: absent },
  ];
  if (writer !== undefined) compares.push({ key: writerKey, equals: { create: writer } });
  if (requiresUnfrozen) compares.push({ key: freezeKey, equals: absent });
  for (const { from } of segments) compares.push({ key: segmentKey(from), equals: absent });
  for (const { name, knownRevision } of claims)
    compares.push({ key: addressKey(name), equals: { mod: knownRevision } });
  return compares;
}

const absent = { create: 0n };

/** The compares that pass while the ledger is in the epoch of this head. */
export function compareEpoch(head: Head): ICompare[] {
  const key = toBytes(headKey);
  if (head.seq === 0) return [{ key, target: 'Create', result: 'Equal', create_revision: '0' }];
  const prefix = epochPrefix(head);
  return [
    { key, target: 'Value', result: 'Greater', value: toBytes(prefix) },
    { key, target: 'Value', result: 'Less', value: toBytes(prefixEnd(prefix)) },
  ];
}

const batchPuts = ({ head, events, claims, dropped, ended, subnets, pools, segments, historyStart }: Batch): Put[] => [
  ...events.map(({ seq, text }) => ({ key: logKey(seq), value: text })),
  ...claims.map(({ name, text }) => ({ key: addressKey(name), value: text })),
  ...dropped.map(({ name, text }) => ({ key: droppedKey(name), value: text })),
  ...ended.map(({ index, text }) => ({ key: endedKey(index), value: text })),
  ...subnets.map(({ name, text }) => ({ key: subnetKey(name), value: text })),
  ...pools.map(({ name, text }) => ({ key: poolKey(name), value: text })),
  ...segments.map((segment) => ({ key: segmentKey(segment.from), value: segmentText(segment) })),
  ...segments.slice(-1).map(({ to }) => ({ key: logStartKey, value: logStartText(to + 1) })),
  ...(historyStart ? historyStartPuts(historyStart) : []),
  { key: headKey, value: headText(head.after) },
];

const historyStartPuts = (segment: Segment): Put[] => [
  { key: segmentKey(segment.from), value: segmentText(segment) },
  { key: segmentPrefix, rangeEnd: segmentKey(segment.from), value: undefined },
];

/** The reads of the same transaction that show why a compare failed. */
const conflictReads = ({ head, claims }: Batch): Read[] => [
  { key: headKey },
  { key: writerKey },
  { key: freezeKey },
  { key: logKey(head.before.seq + 1), rangeEnd: prefixEnd(logPrefix), limit: 1 },
  ...claims.slice(0, etcdLimits.ops - 4).map(({ name }) => ({ key: addressKey(name) })),
];

/** The outcome of an append whose compares failed, according to its reads. */
export function appendConflict(
  { head, claims, segments, requiresUnfrozen, writer }: Batch,
  { responses }: ITxnResponse,
): AppendOutcome {
  const [headKv, writerKv, frozenKv, eventKv, ...claimKvs] = responses.map(
    ({ response_range }) => response_range.kvs[0],
  );
  if (eventKv || (headKv && valueText(headKv)) !== (head.before.seq === 0 ? undefined : headText(head.before)))
    return { kind: 'moved' };
  if (writer !== undefined && BigInt(writerKv?.create_revision ?? 0) !== writer) return { kind: 'deposed' };
  if (requiresUnfrozen && frozenKv) return { kind: 'frozen' };
  const fenced = claims.filter(
    ({ knownRevision }, index) => BigInt(claimKvs[index]?.mod_revision ?? 0) !== knownRevision,
  );
  if (fenced.length === 0 && segments.length > 0) return { kind: 'rejected', reason: segmentKeyExists };
  return { kind: 'fenced', claims: fenced.map(({ name }) => name) };
}

/** While the head is as known, this segment cannot be sealed, so another program wrote the key. */
export const segmentKeyExists = 'the key of a segment already exists. Another program wrote it: delete the key';

/**
 * Returns `rejected` only if etcd reports that it executed nothing. Any other failure has an
 * unknown outcome: etcd executes the writes that exceed its quota, and still reports an error.
 */
export function outcomeOfError(error: unknown): AppendOutcome {
  const reason = etcdErrorMessage(error);
  // etcd checks the number of operations, duplicate keys and the size before it proposes a
  // transaction to its cluster. gRPC rejects a much larger message before etcd receives it.
  const rejected =
    error instanceof GRPCInvalidArgumentError || reason.includes('grpc: received message larger than max');
  if (rejected) return { kind: 'rejected', reason };
  const refusal = refusalIn(reason);
  return { kind: 'unknown', reason, ...(refusal !== undefined && { refusal }) };
}
