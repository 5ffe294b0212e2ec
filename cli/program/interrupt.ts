/** Ctrl-C aborts the signal, so that the verb can stop. A second Ctrl-C ends the process. */
export function createInterruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  return interrupted.signal;
}
