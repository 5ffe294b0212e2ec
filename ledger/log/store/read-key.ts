/** Reads single keys, to compare them with the log. */
import type { KeyRange, KeyReader, StoredKey } from './ledger.ts';

/** Reads a key; undefined if it does not exist. Throws as `KeyReader.keys`. */
export const readKey = (reader: KeyReader, key: string, signal: AbortSignal): Promise<StoredKey | undefined> =>
  readFirstKey(reader, { from: key, end: `${key}\0` }, signal);

/** Reads the first key of a range; undefined if the range is empty. Throws as `KeyReader.keys`. */
export async function readFirstKey(
  reader: KeyReader,
  range: KeyRange,
  signal: AbortSignal,
): Promise<StoredKey | undefined> {
  for await (const { keys } of reader.keys(range, signal)) if (keys[0]) return keys[0];
  return undefined;
}
