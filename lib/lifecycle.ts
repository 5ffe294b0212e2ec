/**
 * How each of our programs lives: it runs until SIGINT or SIGTERM, then stops what it started, last first, within a
 * deadline; a second signal, or a stop that hangs, ends it at once.
 */
import type { Logger } from './log.ts';

const stopDeadlineMs = 10_000;

type Stop = () => Promise<void> | void;

/** What a program's `start` gets. */
export interface Lifecycle {
  /** Aborted when the program is asked to stop. */
  readonly signal: AbortSignal;
  /** Registers something to undo when the program stops; the last registered is undone first. */
  onStop(stop: Stop): void;
  /** Ends the program because going on would be wrong; it exits with status 1. */
  fail(error: unknown): void;
}

/**
 * Runs a program. Never resolves: the process exits, with 0 after a signal and 1 after an error.
 * @param start wires and starts everything; it may return, what it started goes on.
 */
export async function run(log: Logger, start: (life: Lifecycle) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const stops: Stop[] = [];
  let stopping = false;

  const end = async (exitCode: number): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), stopDeadlineMs).unref();
    controller.abort();
    for (const stop of stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        log.warn({ err: error }, 'stopping: a part did not end cleanly');
      }
    }
    process.exit(exitCode);
  };
  const fail = (error: unknown): void => {
    if (stopping) return;
    log.fatal({ err: error }, 'giving up');
    void end(1);
  };

  process.on('SIGINT', () => void end(0));
  process.on('SIGTERM', () => void end(0));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    await start({ signal: controller.signal, onStop: (stop) => stops.push(stop), fail });
  } catch (error) {
    fail(error);
  }
}
