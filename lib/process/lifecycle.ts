/**
 * The lifecycle of a program: it runs until SIGINT or SIGTERM, and then stops its parts in reverse
 * order, within a deadline. A second signal, or the deadline, ends it immediately.
 */
import type { Logger } from './log.ts';

const stopDeadlineMs = 10_000;

type Stop = () => Promise<void> | void;

/** The argument of a program's `start`. */
export interface Lifecycle {
  /** Aborted when the program stops. */
  readonly signal: AbortSignal;
  /** Registers a function that is called when the program stops. The last one is called first. */
  onStop(stop: Stop): void;
  /** Ends the program with status 1 after a fatal error. */
  fail(error: unknown): void;
}

/**
 * Runs a program. Never resolves: the process exits, with 0 after a signal and 1 after an error.
 * @param start starts all parts; they continue after it returns
 */
export async function runProgram(log: Logger, start: (life: Lifecycle) => Promise<void>): Promise<void> {
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
        log.warn({ err: error }, 'stopping: a part did not stop cleanly');
      }
    }
    process.exit(exitCode);
  };
  const fail = (error: unknown): void => {
    if (stopping) return;
    log.fatal({ err: error }, 'fatal error, exiting');
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
