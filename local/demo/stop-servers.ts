/**
 * Stops the servers of a folder (the argument) after their owner was killed; their logs stay. The
 * lock protects the servers of a new owner.
 */
import { withFileLock } from '../../test/harness/processes/file-lock.ts';
import { stopAll } from '../up/stop.ts';

const [, , folder] = process.argv;
if (folder === undefined) throw new Error('usage: stop-servers.ts FOLDER');
const { signal } = new AbortController();
await withFileLock(`${folder}.lock`, () => stopAll({ folder, purge: false, signal }));
