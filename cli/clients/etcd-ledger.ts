/** Opens the ledger in etcd, for verbs that work without an allocator, with the auditor's role. */
import { IpledgerError } from '../../lib/errors.ts';
import { createLogger } from '../../lib/process/log.ts';
import { openArchived } from '../../ledger/archive/open-archive.ts';
import { etcdAccessFromEnvironment } from '../../ledger/log/store/etcd-access.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { connectEtcd } from '../../ledger/log/store/etcd-client.ts';
import type { Ledger } from '../../ledger/log/store/ledger.ts';
import { CliError, orUsageError } from '../cli-error.ts';

/** A ledger in etcd. Dispose it to close the connection. */
export interface OpenEtcdLedger extends Disposable {
  readonly ledger: Ledger;
}

/**
 * Opens the ledger at these endpoints ("http://host:port,…"), with its sealed events if `archive`
 * is not ''.
 * @throws CliError for invalid endpoints, files or archive.
 */
export const openEtcdLedger = (endpoints: string, archive = ''): OpenEtcdLedger =>
  orUsageError(() => {
    const client = connectEtcd(endpoints.split(','), etcdAccessFromEnvironment(process.env, createLogger('ipledger')));
    const live = new EtcdLedger(client);
    const ledger = openArchived(live, archive, process.env, { client })?.ledger ?? live;
    return { ledger, [Symbol.dispose]: () => client.close() };
  });

/** Adds the endpoints to the error of an etcd that does not answer. */
export function explainEtcdError(thrown: unknown, endpoints: string): unknown {
  if (!(thrown instanceof IpledgerError && thrown.code === 'UNAVAILABLE')) return thrown;
  return new CliError('unreachable', `${thrown.message} (${endpoints})`, { cause: thrown });
}
