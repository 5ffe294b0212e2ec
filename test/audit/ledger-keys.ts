/** Reads and overwrites all keys of a ledger in a real etcd, as a client with write access. */
import { prefixEnd, keyPrefix } from '../../ledger/log/store/keys.ts';
import type { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import type { Etcd3 } from 'etcd3';

export type LedgerKeys = ReadonlyMap<string, string>;

/** Reads all keys. */
export async function readLedgerKeys(ledger: EtcdLedger): Promise<LedgerKeys> {
  const found = new Map<string, string>();
  for await (const page of ledger.keys({ from: keyPrefix, end: prefixEnd(keyPrefix) }, new AbortController().signal))
    for (const { key, text } of page.keys) found.set(key, text);
  return found;
}

/** Replaces all keys without any check. */
export async function writeLedgerKeys(client: Etcd3, expected: LedgerKeys, present: LedgerKeys): Promise<void> {
  for (const [key, text] of expected) if (present.get(key) !== text) await client.put(key).value(text);
  for (const key of present.keys()) if (!expected.has(key)) await client.delete().key(key);
}
