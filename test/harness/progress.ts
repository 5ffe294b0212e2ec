/** Progress lines on stderr. stdout stays free for the output of the program. */

const terminalEveryMs = 1_000;
const logEveryMs = 30_000;

export function printProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A wait that is shown until `end`. */
export interface ElapsedDisplay {
  end(): void;
}

/**
 * Shows a wait and how long it takes so far: on a terminal in one line each second, else with a
 * line each 30 s.
 */
export function showElapsed(text: string): ElapsedDisplay {
  const startedAt = Date.now();
  const isTerminal = process.stderr.isTTY;
  const print = (): void => {
    const line = `${text} … ${formatElapsed(Date.now() - startedAt)}`;
    process.stderr.write(isTerminal ? `\r\x1B[K${line.slice(0, process.stderr.columns - 1)}` : `${line}\n`);
  };
  print();
  const timer = setInterval(print, isTerminal ? terminalEveryMs : logEveryMs);
  return {
    end() {
      clearInterval(timer);
      if (isTerminal) process.stderr.write('\n');
    },
  };
}

/** Formats a duration: "4.2 s", "3 min 25 s". */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats a duration as a clock does: "0:04", "12:30". */
function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
