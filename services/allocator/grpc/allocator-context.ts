/** The parts of one replica that every RPC handler works with. */
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
  /** undefined while this replica is not the writer. */
  readonly writer: () => Writer | undefined;
  /**
   * undefined while this replica is not a standby. Between the two roles there is neither, for some
   * milliseconds.
   */
  readonly follower: () => Follower | undefined;
  /** Address of the writer; undefined while it is this replica or unknown. */
  readonly writerAddress: () => string | undefined;
  readonly positionWaits: PositionWaits;
  /** Runs work whose cost grows with the ledger. */
  readonly threads: TaskRunner;
  readonly freezeStore: FreezeStore;
  /**
   * Why nothing can be written to the ledger; undefined if it can, or the reason is not known. Does
   * not reject.
   */
  readonly findWriteObstacle: () => Promise<WriteObstacle | undefined>;
  /** What is left in etcd. Absent in specs. */
  readonly space?: Pick<EtcdSpace, 'wait' | 'size' | 'quotaBytes'>;
  /** The key that signs checkpoints, if this replica has one. */
  readonly signer: () => SignerKey | undefined;
  /** Absent: no limits. */
  readonly rateLimiter?: RateLimiter;
}

/** @throws IpledgerError NOT_WRITER with the address of the writer, if it is known. */
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
 * The error of a call that was not executed, because it found no writer; with the reason if it is
 * known: not a freeze.
 */
export async function explainNoWriter({ findWriteObstacle }: AllocatorContext, thrown: unknown): Promise<unknown> {
  const obstacle = IpledgerError.from(thrown).code === 'NOT_WRITER' ? await findWriteObstacle() : undefined;
  return obstacle && obstacle.reason !== 'frozen' ? notWritable(obstacle) : thrown;
}
