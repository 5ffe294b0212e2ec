/** What the cases of one run share: a folder, and (once a case asks for it) a Kubernetes API. */
import type { Run } from '../harness/run.ts';
import { openWorld, type World } from './world/world.ts';

export interface Stage {
  readonly run: Run;
  /** Started at the first call. */
  world(): Promise<World>;
}

/** A busy machine takes its time. */
const usualPatienceMs = 60_000;

/**
 * Everything of it ends with the run.
 * @param patienceMs how long what is expected may be in coming; who expects the wrong thing waits as long.
 */
export function openStage(run: Run, patienceMs = usualPatienceMs): Stage {
  let world: Promise<World> | undefined;
  return { run, world: () => (world ??= openWorld(run, patienceMs)) };
}
