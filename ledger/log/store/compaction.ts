/** Continues a paged read at a newer revision when etcd has compacted the revision. */
import { IpledgerError } from '../../../lib/errors.ts';

/** Whether a read failed because etcd has compacted its revision. */
export const isCompactedError = (error: unknown): boolean =>
  error instanceof IpledgerError && error.code === 'UNAVAILABLE' && error.message.includes('compacted');
