/** The present conflicts. Each is logged once while it lasts. */
import type { Logger } from '../../../lib/process/log.ts';
import { projectorLimits } from '../limits.ts';
import { rowKey } from '../rows/desired-row.ts';
import type { Conflict } from './diff.ts';

export class ConflictList {
  readonly #log: Logger;
  #present = new Map<string, string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  get size(): number {
    return this.#present.size;
  }

  /** Replaces the conflicts of a scope by those that a comparison of it found. */
  replace(scope: 'all' | ReadonlySet<string>, conflicts: readonly Conflict[]): void {
    const before = this.#present;
    this.#present = new Map(scope === 'all' ? [] : before);
    if (scope !== 'all') for (const name of scope) this.#present.delete(rowKey({ table: 'Logical_Switch_Port', name }));
    for (const { key, message } of conflicts) this.#present.set(key, message);
    const added = [...this.#present].filter(([key, message]) => before.get(key) !== message);
    for (const [, message] of added.slice(0, projectorLimits.loggedProblems))
      this.#log.warn({ reason: message }, 'a row of another owner is in the way');
  }
}
