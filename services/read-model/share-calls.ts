/** Shares a call among requests that wait at the same time. */

/**
 * Returns a function whose result is of a call that began after it was called: an earlier one may have an old result. At most one
 * call runs, and one waits.
 */
export function shareCalls<Value>(start: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<Value> | undefined;
  let next: Promise<Value> | undefined;
  const begin = (): Promise<Value> => {
    const call = start().finally(() => {
      if (running === call) running = undefined;
    });
    running = call;
    return call;
  };
  const beginNext = (): Promise<Value> => {
    next = undefined;
    return begin();
  };
  return () => {
    if (!running) return begin();
    next ??= running.then(beginNext, beginNext);
    return next;
  };
}
