/** etcd may compact the revision that somebody reads page by page: he can go on at a newer one. */
import { IpledgerError } from '../../../lib/errors.ts';

/** Whether reading failed because etcd has compacted the revision that was read. */
export const wasCompacted = (error: unknown): boolean =>
  error instanceof IpledgerError && error.code === 'UNAVAILABLE' && error.message.includes('compacted');
