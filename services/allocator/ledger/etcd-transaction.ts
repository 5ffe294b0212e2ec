/** An append as one transaction of etcd: what it compares and puts, and what its answer means. */
import { GRPCInvalidArgumentError, type ICompare, type IKeyValue, type IRequestOp, type ITxnResponse } from 'etcd3';
import type { Head } from './chain.ts';
import {
  addressKey,
  droppedKey,
  endOf,
  epochText,
  floorKey,
  floorText,
  frozenKey,
  headKey,
  headText,
  logKey,
  logPrefix,
  poolKey,
  segmentKey,
  segmentText,
  subnetKey,
  writerKey,
} from './keys.ts';
import type { Appended, AppendLimits, Batch } from './ledger.ts';

/** etcd's default limits (128 operations, 1.5 MiB) with room for keys and framing. */
export const etcdLimits: AppendLimits = { ops: 128, bytes: 1 << 20 };

export const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');
export const textOf = ({ value }: IKeyValue): string => value.toString('utf8');

/** What etcd's client says, without the number of its status and grpc-js's frame around why there is no connection. */
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(
    /^\d+ [A-Z_]+: (No connection established\. Last error: (?:Error: )?)?(.*?)([.,]? Resolution note: .*)?$/s,
    (_, unconnected: string | undefined, reason: string) => `${unconnected ? 'no connection: ' : ''}${reason}`,
  );

export function comparesOf({ head, claims, segments, notWhileFrozen, writer }: Batch): ICompare[] {
  const key = bytes(headKey);
  const headAsKnown: ICompare =
    head.before.seq === 0
      ? { key, target: 'Create', result: 'Equal', create_revision: '0' }
      : { key, target: 'Value', result: 'Equal', value: bytes(headText(head.before)) };
  // Of a range, each key is compared, and none at all is as one that was never created: no event is ever overwritten.
  const nextEvent = { key: bytes(logKey(head.before.seq + 1)), range_end: bytes(endOf(logPrefix)) };
  const nothingBehind: ICompare = { ...nextEvent, target: 'Create', result: 'Equal', create_revision: '0' };
  const compares = [headAsKnown, nothingBehind];
  if (writer !== undefined)
    compares.push({ key: bytes(writerKey), target: 'Create', result: 'Equal', create_revision: String(writer) });
  if (notWhileFrozen) compares.push({ key: bytes(frozenKey), target: 'Create', result: 'Equal', create_revision: '0' });
  for (const { from } of segments)
    compares.push({ key: bytes(segmentKey(from)), target: 'Create', result: 'Equal', create_revision: '0' });
  for (const { name, known } of claims)
    compares.push({ key: bytes(addressKey(name)), target: 'Mod', result: 'Equal', mod_revision: String(known) });
  return compares;
}

/** That the head is, wherever it is by now, still of the epoch of this one. */
export function sameEpoch(head: Head): ICompare[] {
  const key = bytes(headKey);
  if (head.seq === 0) return [{ key, target: 'Create', result: 'Equal', create_revision: '0' }];
  const prefix = epochText(head);
  return [
    { key, target: 'Value', result: 'Greater', value: bytes(prefix) },
    { key, target: 'Value', result: 'Less', value: bytes(endOf(prefix)) },
  ];
}

export function putsOf({ head, events, claims, dropped, subnets, pools, segments }: Batch): IRequestOp[] {
  const put = (key: string, text: string): IRequestOp => ({ request_put: { key: bytes(key), value: bytes(text) } });
  const putOrDelete = (key: string, text: string | undefined): IRequestOp =>
    text === undefined ? { request_delete_range: { key: bytes(key) } } : put(key, text);
  return [
    ...events.map(({ seq, text }) => put(logKey(seq), text)),
    ...claims.map(({ name, text }) => putOrDelete(addressKey(name), text)),
    ...dropped.map(({ name, text }) => putOrDelete(droppedKey(name), text)),
    ...subnets.map(({ name, text }) => putOrDelete(subnetKey(name), text)),
    ...pools.map(({ name, text }) => putOrDelete(poolKey(name), text)),
    ...segments.map((segment) => put(segmentKey(segment.from), segmentText(segment))),
    ...segments.slice(-1).map(({ to }) => put(floorKey, floorText(to + 1))),
    put(headKey, headText(head.after)),
  ];
}

/** Reads, in the same transaction, what tells why a compare failed. */
export function inquiriesOf({ head, claims }: Batch): IRequestOp[] {
  const look = (key: string): IRequestOp => ({ request_range: { key: bytes(key) } });
  const behind = { key: bytes(logKey(head.before.seq + 1)), range_end: bytes(endOf(logPrefix)), limit: 1 };
  return [
    look(headKey),
    look(writerKey),
    look(frozenKey),
    { request_range: behind },
    ...claims.slice(0, etcdLimits.ops - 4).map(({ name }) => look(addressKey(name))),
  ];
}

export function whyNot(
  { head, claims, segments, notWhileFrozen, writer }: Batch,
  { responses }: ITxnResponse,
): Appended {
  const [headKv, writerKv, frozenKv, eventKv, ...claimKvs] = responses.map(
    ({ response_range }) => response_range.kvs[0],
  );
  if (eventKv || (headKv && textOf(headKv)) !== (head.before.seq === 0 ? undefined : headText(head.before)))
    return { kind: 'moved' };
  if (writer !== undefined && BigInt(writerKv?.create_revision ?? 0) !== writer) return { kind: 'deposed' };
  if (notWhileFrozen && frozenKv) return { kind: 'frozen' };
  const fenced = claims.filter(({ known }, index) => BigInt(claimKvs[index]?.mod_revision ?? 0) !== known);
  if (fenced.length === 0 && segments.length > 0) return { kind: 'rejected', reason: overSegment };
  return { kind: 'fenced', claims: fenced.map(({ name }) => name) };
}

/** Behind a head that is as known nothing is sealed twice: only a key that was put there by hand is in the way. */
export const overSegment = 'the key of a segment exists already: was it put there by hand?';

/** Only etcd's own word that it executed nothing is an answer; all else may have happened. */
export function outcomeOf(error: unknown): Appended {
  const reason = messageOf(error);
  // Too many operations, a key twice, too many bytes: etcd checks these before it proposes anything. Far too many bytes are
  // refused even before it looks at them.
  const rejected =
    error instanceof GRPCInvalidArgumentError || reason.includes('grpc: received message larger than max');
  return { kind: rejected ? 'rejected' : 'unknown', reason };
}
