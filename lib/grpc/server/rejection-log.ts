/** Logs rejected calls. A rejected client may retry without end, so the number of lines is limited. */
import type { Logger } from '../../process/log.ts';

/** This many rejections are logged in an interval, and then the number of the others. */
const logLimit = { max: 20, perMs: 60_000 };

export interface Rejection {
  readonly path: string;
  readonly peer: string;
  readonly reason: string;
}

export function createRejectionLogger(log: Logger): (rejection: Rejection) => void {
  let [since, count] = [-Infinity, 0];
  return (rejection) => {
    if (performance.now() - since > logLimit.perMs) {
      if (count > logLimit.max) log.warn({ suppressed: count - logLimit.max }, 'more calls were rejected than logged');
      [since, count] = [performance.now(), 0];
    }
    count += 1;
    if (count <= logLimit.max) log.warn(rejection, 'a call was rejected');
  };
}
