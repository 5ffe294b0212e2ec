/**
 * A program, the floor of a start: reads the keys beside the log page by page, and parses each
 * value. Prints the number of addresses that a Pod holds. Argument: the endpoint of etcd.
 */
import { rangesBesideLog } from '../../../../ledger/audit/verification/key-verifier.ts';
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import { PlainReader } from '../../plain-reader.ts';

const client = connectEtcd([process.argv[2] ?? '']);
const reader = new PlainReader(client);
let held = 0;
for (const range of rangesBesideLog)
  for await (const keys of reader.pages(range, new AbortController().signal))
    for (const { text } of keys) {
      const value = JSON.parse(text) as object;
      if ('holder' in value) held++;
    }
client.close();
process.stdout.write(String(held));
