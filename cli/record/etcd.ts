/** The ledger straight from etcd, for what must work when no allocator does. Reading takes no more than an auditor's role. */
import { IpledgerError } from '../../lib/errors.ts';
import { createLogger } from '../../lib/log.ts';
import { etcdAccess } from '../../services/allocator/ledger/access.ts';
import { connectEtcd, EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { Failure } from '../failure.ts';

/** What the verbs that take it say of `--etcd`. */
export const etcdHelp = `IPLEDGER_ETCD_CA, _CERT and _KEY, IPLEDGER_ETCD_USER and _PASSWORD_FILE let it into etcd, as they do the allocator.`;

/**
 * Works on the ledger at these endpoints ("http://host:port,…").
 * @throws Failure for endpoints or files that make no sense, and when etcd does not answer; whatever `work` throws.
 */
export async function withEtcd<Result>(endpoints: string, work: (ledger: EtcdLedger) => Promise<Result>) {
  const client = connect(endpoints);
  try {
    return await work(new EtcdLedger(client));
  } catch (error) {
    if (error instanceof IpledgerError && error.code === 'UNAVAILABLE')
      throw new Failure('unreachable', `${error.message} (${endpoints})`, { cause: error });
    throw error;
  } finally {
    client.close();
  }
}

function connect(endpoints: string) {
  try {
    return connectEtcd(endpoints.split(','), etcdAccess(process.env, createLogger('ipledger')));
  } catch (error) {
    throw new Failure('usage', error instanceof Error ? error.message : String(error), { cause: error });
  }
}
