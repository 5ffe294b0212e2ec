/**
 * A program, the floor of a start: reads the keys beside the log page by page, and parses each value. Prints the number of addresses
 * that a Pod holds. Argument: the endpoint of etcd.
 */
import { rangesBesideLog } from '../../../../ledger/audit/verification/key-verifier.ts';
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../../../ledger/log/store/etcd-ledger.ts';

const client = connectEtcd([process.argv[2] ?? '']);
const ledger = new EtcdLedger(client);
let held = 0;
for (const range of rangesBesideLog)
  for await (const page of ledger.keys(range, new AbortController().signal))
    for (const { text } of page.keys) {
      const value = JSON.parse(text) as object;
      if ('holder' in value) held++;
    }
client.close();
process.stdout.write(String(held));
