/** What is read for long may be compacted by etcd meanwhile: whoever reads it can go on at a newer revision. */
import { IpledgerError } from '../../../lib/errors.ts';

/** Whether etcd has not the revision any more that was read. */
export const wasCompacted = (error: unknown): boolean =>
  error instanceof IpledgerError && error.code === 'UNAVAILABLE' && error.message.includes('compacted');
