/** How the cases of an area are executed. */
import type { Case } from '../case.ts';
import type { Seen } from '../compare.ts';
import type { Fields, Json } from '../json.ts';
import type { Stage } from '../stage.ts';

/**
 * Executes one case, whose `expect` is by now what must be seen here.
 * @throws CannotExecute, with the reason; any other error counts as a failure of the case.
 */
export type Execute = (the: Case, stage: Stage) => Promise<Seen> | Seen;

/** One form in which the cases of an area come, told by a key of their `when`. */
export interface Form {
  readonly when: string | RegExp;
  readonly execute: Execute;
}

/**
 * Cases that need the same scarce thing are executed one after the other: `memory` an allocator of their own, `plugin`
 * processes, `cluster` the Kubernetes API that all share.
 */
export type Lane = 'memory' | 'plugin' | 'cluster';

export interface Area {
  readonly name: string;
  readonly lane: Lane;
  readonly forms: readonly Form[];
}

/** The expectation as it stands, and what was seen. */
export const seen = (the: Case, got: Json): Seen => ({ expected: the.expect, got });

/** An error as it is compared. */
export const failed = (message: string): Fields => ({ error: message });
