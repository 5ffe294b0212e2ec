/** The parts of a replica that all RPC handlers use. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { SignerKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import type { Follower } from '../../../ledger/log/reader/follower.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';
import type { FreezeStore } from '../../../ledger/log/store/ledger.ts';
import type { Writer } from '../../../ledger/log/writer/writer.ts';
import type { EtcdSpace } from '../health/etcd-space.ts';
import { notWritable, type WriteObstacle } from '../health/write-obstacles.ts';
import type { TaskRunner } from '../threads/task.ts';
import type { PositionWaits } from './position-waits.ts';
import type { RateLimiter } from './rate-limiter.ts';

export interface AllocatorContext {
  readonly replica: Replica;
  /** Returns undefined while this replica is not the writer. */
  readonly writer: () => Writer | undefined;
  /**
   * Returns undefined while this replica is not a standby. Between the two roles, for some
   * milliseconds, it is neither.
   */
  readonly follower: () => Follower | undefined;
  /** The address of the writer; undefined if it is this replica, or unknown. */
  readonly writerAddress: () => string | undefined;
  readonly positionWaits: PositionWaits;
  /** Runs work whose cost grows with the ledger in threads. */
  readonly threads: TaskRunner;
  readonly freezeStore: FreezeStore;
  /**
   * Returns why nothing can be written to the ledger; undefined if writes are possible or the
   * reason is not known. Never rejects.
   */
  readonly findWriteObstacle: () => Promise<WriteObstacle | undefined>;
  /** The space left in etcd. Absent in specs. */
  readonly space?: Pick<EtcdSpace, 'wait' | 'size' | 'quotaBytes'>;
  /** The key that signs checkpoints, if this replica has one. */
  readonly signer: () => SignerKey | undefined;
  /** Limits the rate of calls. Absent: no limits. */
  readonly rateLimiter?: RateLimiter;
}

/** @throws IpledgerError NOT_WRITER with the address of the writer, if it is known */
export function requireWriter(allocator: AllocatorContext): Writer {
  const local = allocator.writer();
  if (!local) throw notWriter(allocator);
  return local;
}

/** The error of a call that only the writer can answer. */
export function notWriter({ writerAddress }: AllocatorContext): IpledgerError {
  const remote = writerAddress();
  return new IpledgerError(
    'NOT_WRITER',
    remote === undefined
      ? 'no allocator is the writer at this moment: try again'
      : `this allocator is a standby; the writer is at ${remote}`,
  );
}

/**
 * The error of a call that was not executed because there is no writer. It contains the reason if
 * that is known and is not a freeze.
 */
export async function explainNoWriter({ findWriteObstacle }: AllocatorContext, thrown: unknown): Promise<unknown> {
  const obstacle = IpledgerError.from(thrown).code === 'NOT_WRITER' ? await findWriteObstacle() : undefined;
  return obstacle && obstacle.reason !== 'frozen' ? notWritable(obstacle) : thrown;
}
