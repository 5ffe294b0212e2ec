/** Ctrl-C ends what is being done; a second one ends the program as ever. */
export function untilInterrupted(): AbortSignal {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  return interrupted.signal;
}
