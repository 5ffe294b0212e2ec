/** The context that the cases of a run share: a folder, and a Kubernetes API from its first use. */
import type { Run } from '../harness/run.ts';
import { startEnvironment, type Environment } from './environment/environment.ts';

export interface RunContext {
  readonly run: Run;
  /** Returns the environment, which starts at the first call. */
  environment(): Promise<Environment>;
}

/** The time that a case waits for its expectation: enough for a busy machine. */
const defaultTimeoutMs = 60_000;

/**
 * Opens a context, whose servers end with the run.
 * @param timeoutMs how long a case waits for its expectation
 */
export function openRunContext(run: Run, timeoutMs = defaultTimeoutMs): RunContext {
  let environment: Promise<Environment> | undefined;
  return { run, environment: () => (environment ??= startEnvironment(run, timeoutMs)) };
}
