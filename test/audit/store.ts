/** All keys of a ledger in a real etcd: as they are, and as somebody with rights to write would have them. */
import { endOf, prefix } from '../../services/allocator/ledger/keys.ts';
import type { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import type { Etcd3 } from 'etcd3';

export type Keys = ReadonlyMap<string, string>;

/** Reads them. */
export async function keysOf(ledger: EtcdLedger): Promise<Keys> {
  const found = new Map<string, string>();
  for await (const page of ledger.keys({ from: prefix, end: endOf(prefix) }, new AbortController().signal))
    for (const { key, text } of page.keys) found.set(key, text);
  return found;
}

/** Makes them these, past all rules. */
export async function putKeys(client: Etcd3, wanted: Keys, present: Keys): Promise<void> {
  for (const [key, text] of wanted) if (present.get(key) !== text) await client.put(key).value(text);
  for (const key of present.keys()) if (!wanted.has(key)) await client.delete().key(key);
}
