/** The ledger straight from etcd, for what must work when no allocator does. Reading takes no more than an auditor's role. */
import { type Command, Option } from 'commander';
import { IpledgerError } from '../../lib/errors.ts';
import { createLogger } from '../../lib/log.ts';
import { ArchivedLedger } from '../../services/allocator/archive/archived-ledger.ts';
import { openArchive } from '../../services/allocator/archive/open.ts';
import { etcdAccess } from '../../services/allocator/ledger/access.ts';
import { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { connectEtcd } from '../../services/allocator/ledger/etcd-client.ts';
import type { Ledger } from '../../services/allocator/ledger/ledger.ts';
import { Failure } from '../failure.ts';

/** Where a verb finds the ledger: in etcd when that is named, else by asking the allocator. */
export interface Source {
  readonly etcd?: string;
  readonly archive: string;
  readonly allocator: string;
}

/** What the verbs that take it say of `--etcd`. */
export const etcdHelp = `IPLEDGER_ETCD_CA, _CERT and _KEY, IPLEDGER_ETCD_USER and _PASSWORD_FILE let it into etcd, as they do the allocator.`;

/** Adds `--etcd`. */
export const addEtcd = (verb: Command): Command =>
  verb.addOption(
    new Option('--etcd <urls>', 'the ledger in etcd, http(s)://host:port joined with commas').env('IPLEDGER_ETCD'),
  );

/** Adds `--etcd`, `--archive` and `--allocator`. */
export const addSource = (verb: Command): Command =>
  addEtcd(verb)
    .addOption(
      new Option('--archive <where>', 'with --etcd: where its sealed events are, /a/folder or s3://bucket/prefix')
        .env('IPLEDGER_ARCHIVE')
        .default(''),
    )
    .addOption(
      new Option('--allocator <host:port>', 'without --etcd: where the allocator is; its replicas joined with commas')
        .env('IPLEDGER_ENDPOINT')
        .default('127.0.0.1:7411'),
    );

/** The ledger in etcd, until it is disposed of. */
export interface OpenedEtcd extends Disposable {
  readonly ledger: Ledger;
}

/**
 * Opens the ledger at these endpoints ("http://host:port,…"), its past in the archive included where that is named.
 * @throws Failure for endpoints, files or an archive that make no sense.
 */
export function openEtcd(endpoints: string, archive = ''): OpenedEtcd {
  try {
    const client = connectEtcd(endpoints.split(','), etcdAccess(process.env, createLogger('ipledger')));
    const live = new EtcdLedger(client);
    const ledger = archive === '' ? live : new ArchivedLedger(live, openArchive(archive, process.env));
    return { ledger, [Symbol.dispose]: () => client.close() };
  } catch (error) {
    throw new Failure('usage', error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** What a person is told when etcd does not answer; any other error as it is. */
export function whyNoEtcd(thrown: unknown, endpoints: string): unknown {
  if (!(thrown instanceof IpledgerError && thrown.code === 'UNAVAILABLE')) return thrown;
  return new Failure('unreachable', `${thrown.message} (${endpoints})`, { cause: thrown });
}
