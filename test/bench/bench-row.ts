/** A row of the bench. The file of each group of rows exports one `BenchGroup`. */
import type { Run } from '../harness/run.ts';
import type { Measurement } from './measurement.ts';

export interface BenchOptions {
  readonly run: Run;
  /** Repetitions of each measurement. */
  readonly rounds: number;
  /** The selected rows of the group. */
  readonly rows: ReadonlySet<string>;
  /**
   * `smoke`: the smallest input that runs all code of the row. `long`: the sizes that take hours.
   */
  readonly size: 'smoke' | 'normal' | 'long';
  /** Records a row as soon as it is measured. */
  readonly record: (measurement: Measurement) => void;
}

/** Rows that share servers. */
export interface BenchGroup {
  /** The names of its rows, as ROW=… selects them. */
  readonly rows: readonly string[];
  /** Rows that run only with LONG=1. */
  readonly longRows?: readonly string[];
  /**
   * Measures the selected rows, and compares the acknowledged changes with the ledger. Throws Error
   * when they differ.
   */
  measure(options: BenchOptions): Promise<void>;
}
