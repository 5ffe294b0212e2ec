/** What people who wait are told: one line at a time, on stderr, so that stdout stays the program's own. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A duration as it is said: "4.2 s", "3 min 25 s". */
export function inWords(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
