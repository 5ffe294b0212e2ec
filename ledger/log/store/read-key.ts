/** Reads single keys, for what compares them with the log. */
import type { KeyRange, KeyReader, StoredKey } from './ledger.ts';

/** A key with its value; undefined if it does not exist. Throws as `KeyReader.keys`. */
export const readKey = (reader: KeyReader, key: string, signal: AbortSignal): Promise<StoredKey | undefined> =>
  readFirstKey(reader, { from: key, end: `${key}\0` }, signal);

/** The first key of a range; undefined for an empty range. Throws as `KeyReader.keys`. */
export async function readFirstKey(
  reader: KeyReader,
  range: KeyRange,
  signal: AbortSignal,
): Promise<StoredKey | undefined> {
  for await (const { keys } of reader.keys(range, signal)) if (keys[0]) return keys[0];
  return undefined;
}
