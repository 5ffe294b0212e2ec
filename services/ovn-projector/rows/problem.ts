/** A problem: why a part of a requested network is missing in the northbound database. */
import type { Logger } from '../../../lib/process/log.ts';
import { projectorLimits } from '../limits.ts';

export type ProblemKind =
  | 'unsupported'
  | 'invalid'
  | 'vlan-missing'
  | 'provider-network-missing'
  /** Two rows of ipledger need the same name. */
  | 'name-in-use'
  /** An allocation has no MAC, or its Subnet has no switch. */
  | 'no-port';

export const problemKinds: readonly ProblemKind[] = [
  'unsupported',
  'invalid',
  'vlan-missing',
  'provider-network-missing',
  'name-in-use',
  'no-port',
];

export interface Problem {
  readonly kind: ProblemKind;
  /** The object, as "Subnet lan". */
  readonly subject: string;
  /** The failure, its reason, and the remedy. */
  readonly message: string;
}

/** Logs each problem once while it lasts. */
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
