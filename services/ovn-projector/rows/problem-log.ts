/** Logs each problem once while it lasts. */
import type { Logger } from '../../../lib/process/log.ts';
import { projectorLimits } from '../limits.ts';
import type { Problem } from './problem.ts';

export class ProblemLog {
  readonly #log: Logger;
  #present: ReadonlySet<string> = new Set();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Receives all present problems. */
  report(problems: readonly Problem[]): void {
    const before = this.#present;
    const added = problems.filter((problem) => !before.has(keyOf(problem)));
    this.#present = new Set(problems.map(keyOf));
    for (const { kind, subject, message } of added.slice(0, projectorLimits.loggedProblems))
      this.#log.warn({ kind, subject, reason: message }, 'a part of it is not in the northbound database');
  }
}

const keyOf = ({ subject, message }: Problem): string => `${subject}: ${message}`;
