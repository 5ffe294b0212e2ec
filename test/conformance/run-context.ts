/** Shared by the cases of one run: a folder, and (from its first use) a Kubernetes API. */
import type { Run } from '../harness/run.ts';
import { startEnvironment, type Environment } from './environment/environment.ts';

export interface RunContext {
  readonly run: Run;
  /** Started at the first call. */
  environment(): Promise<Environment>;
}

/** Long enough for a busy machine. */
const defaultTimeoutMs = 60_000;

/**
 * Its servers end with the run.
 * @param timeoutMs how long a case waits for its expectation
 */
export function openRunContext(run: Run, timeoutMs = defaultTimeoutMs): RunContext {
  let environment: Promise<Environment> | undefined;
  return { run, environment: () => (environment ??= startEnvironment(run, timeoutMs)) };
}
