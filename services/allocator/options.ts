/** The command-line options of the allocator. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { Option } from 'commander';
import { insecureOption } from '../../lib/grpc/server/insecure.ts';
import { tracingOptions, type TracingSettings } from '../../lib/tracing/open-tracing.ts';
import { healthListenOption, parseOptions, parseWholeNumber } from '../../lib/process/options.ts';
import { archiveOptions, type ArchiveSettings } from './flags/archive-flags.ts';
import { checkpointOptions, type CheckpointSettings } from './writer-tasks/checkpoint-schedule.ts';
import { rateLimitOptions, type RateLimits } from './grpc/rate-limiter.ts';
import { tokenReviewOptions, type TokenReviewSettings } from './token-review/token-review.ts';

export interface AllocatorOptions
  extends ArchiveSettings, CheckpointSettings, RateLimits, TokenReviewSettings, TracingSettings {
  /** The URLs of etcd, separated by commas. */
  readonly etcd: string;
  readonly listen: string;
  readonly insecure?: boolean;
  readonly advertise?: string;
  readonly replica: string;
  /** The address of the HTTP health endpoint; '' for none. */
  readonly healthListen: string;
  /** The quota in bytes. */
  readonly etcdQuota: number;
  readonly acceptClock?: boolean;
}

/** Reads the options. Prints the error and exits if an option is invalid. */
export function readOptions(): AllocatorOptions {
  const read = parseOptions('allocator', 'allocates addresses and keeps the ledger of their holders', [
    ...allocatorOptions(),
    ...archiveOptions(),
    ...checkpointOptions(),
    ...rateLimitOptions(),
    ...tokenReviewOptions(),
    ...tracingOptions(),
  ]).opts<AllocatorOptions>();
  const { archiveMaxBytes = Math.floor(read.etcdQuota / 4) } = read as Partial<AllocatorOptions>;
  return { ...read, archiveMaxBytes };
}

const allocatorOptions = (): Option[] => [
  new Option('--etcd <urls>', 'etcd endpoints of the ledger: http(s)://host:port, separated by commas')
    .env('IPLEDGER_ETCD')
    .makeOptionMandatory(),
  new Option('--etcd-quota <bytes>', "etcd's --quota-backend-bytes; the allocator warns before it is reached")
    .env('IPLEDGER_ETCD_QUOTA')
    .argParser((text) => parseWholeNumber(text, 1, Number.MAX_SAFE_INTEGER))
    .default(2 * 2 ** 30, "2147483648, etcd's default"),
  new Option('--listen <host:port>', 'address of the gRPC API').env('IPLEDGER_LISTEN').default('127.0.0.1:7411'),
  insecureOption(),
  new Option(
    '--accept-clock',
    'become the writer although the clock differs from those of etcd and Kubernetes by more than a minute: this clock is right (env: IPLEDGER_ACCEPT_CLOCK=1)',
  ),
  new Option('--advertise <host:port>', 'address at which other replicas reach this one, if not --listen').env(
    'IPLEDGER_ADVERTISE',
  ),
  new Option('--replica <id>', 'name of this replica')
    .env('IPLEDGER_REPLICA')
    .default(`${hostname()}-${randomBytes(3).toString('hex')}`),
  healthListenOption(),
];
