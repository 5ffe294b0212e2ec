/** The keys of the Pods that have ended: one for each chunk. */
import { IpledgerError } from '../../../lib/errors.ts';
import { type EndedChunk, endedPerChunk, maxEndedChunks } from '../../domain/state/ended-pods.ts';
import { endedKey, endedPrefix } from './keys.ts';

export const endedText = (pods: readonly string[]): string => JSON.stringify({ pods });

/** The most bytes of such a key and its value. */
export const maxEndedBytes = endedKey(0).length + endedText(Array<string>(endedPerChunk).fill('0'.repeat(16))).length;

interface FoundKey {
  readonly key: string;
  readonly text: string;
}

/** Parses all keys of ended Pods in order. @throws LEDGER_DAMAGED also for a missing key */
export function parseEnded(keys: readonly FoundKey[]): EndedChunk[] {
  const chunks = keys.map(parseChunk);
  const end = (chunks.at(-1)?.index ?? -1) + 1;
  const first = Math.max(0, end - maxEndedChunks);
  chunks.forEach(({ index, pods }, at) => {
    if (index !== first + at) throw damaged(endedKey(first + at), 'is missing');
    if (pods.length < endedPerChunk && index !== end - 1) throw damaged(endedKey(index), 'has too few Pods');
  });
  return chunks;
}

function parseChunk({ key, text }: FoundKey): EndedChunk {
  const index = Number(key.slice(endedPrefix.length));
  const pods = podsOf(text);
  if (endedKey(index) !== key || !pods) throw damaged(key, `is not a list of 1 to ${endedPerChunk} Pods`);
  return { index, pods };
}

const isId = (id: unknown): boolean => typeof id === 'string' && /^[0-9a-f]{16}$/.test(id);

/** The ids in a value; undefined for an invalid value. */
function podsOf(text: string): readonly string[] | undefined {
  try {
    const { pods } = JSON.parse(text) as { readonly pods: readonly string[] };
    const isChunk = pods.length > 0 && pods.length <= endedPerChunk && pods.every(isId);
    return isChunk ? pods : undefined;
  } catch {
    return undefined;
  }
}

const damaged = (key: string, what: string): IpledgerError =>
  new IpledgerError(
    'LEDGER_DAMAGED',
    `${key} ${what}: another program changed the keys of the ended Pods. Run: ipledger verify --etcd URLS`,
  );
