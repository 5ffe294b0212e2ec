/**
 * Ends the servers that somebody who was killed has left running in a folder (the argument); their logs stay. They may be
 * another one's by now, who holds the lock then.
 */
import { withLock } from '../harness/lock.ts';
import { stopAll } from '../harness/up/stop.ts';

const [, , folder] = process.argv;
if (folder === undefined) throw new Error('want a folder');
const { signal } = new AbortController();
await withLock(`${folder}.lock`, () => stopAll({ folder, purge: false, signal }));
