/** etcd can compact a revision while a client reads it page by page. The client then continues at a newer revision. */
import { IpledgerError } from '../../../lib/errors.ts';

/** Whether a read failed because etcd has compacted its revision. */
export const isCompactedError = (error: unknown): boolean =>
  error instanceof IpledgerError && error.code === 'UNAVAILABLE' && error.message.includes('compacted');
