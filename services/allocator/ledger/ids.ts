/** Names of events, commands and ledgers: ULIDs, each greater than the one before it. */
import { randomBytes } from 'node:crypto';
import { monotonicFactory } from 'ulid';

const poolBytes = 4_096;

/** Gives a new one each time. Random bytes are drawn in bulk: one at a time they would cost more than the rest of the id. */
export function idSource(): () => string {
  let pool = randomBytes(poolBytes);
  let used = 0;
  const fraction = (): number => {
    if (used === pool.length) [pool, used] = [randomBytes(poolBytes), 0];
    return pool.readUInt8(used++) / 256;
  };
  const next = monotonicFactory(fraction);
  return () => next();
}
