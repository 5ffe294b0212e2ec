/** The options that name where a verb reads the ledger: etcd, or an allocator. */
import { type Command, Option } from 'commander';
import { addAllocatorOptions, type AllocatorOptions } from './allocator-options.ts';

/** The source of the ledger: etcd itself with `etcd`, else the allocator. */
export interface LedgerSource extends AllocatorOptions {
  readonly etcd?: string;
  readonly archive: string;
}

/** Explains `--etcd` in --help. */
export const etcdHelp = `IPLEDGER_ETCD_CA, _CERT and _KEY, IPLEDGER_ETCD_USER and IPLEDGER_ETCD_PASSWORD_FILE give access to etcd, as for the allocator.`;

/** Adds `--etcd`. */
export const addEtcdOption = (verb: Command): Command =>
  verb.addOption(
    new Option('--etcd <urls>', 'endpoints of etcd, http(s)://host:port, separated by commas').env('IPLEDGER_ETCD'),
  );

/** Adds `--etcd`, `--archive` and the options of the allocator. */
export const addLedgerSourceOptions = (verb: Command): Command =>
  addAllocatorOptions(
    addEtcdOption(verb).addOption(
      new Option(
        '--archive <folder|url>',
        'with --etcd: archive of the sealed events, /a/folder, s3://bucket/prefix or etcd:',
      )
        .env('IPLEDGER_ARCHIVE')
        .default(''),
    ),
    'without --etcd and IPLEDGER_ETCD: ',
  );
