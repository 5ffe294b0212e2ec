/** What the cases of one run share: a folder, and (once a case asks for it) a Kubernetes API. */
import type { Run } from '../harness/run.ts';
import { openWorld, type World } from './world/world.ts';

export interface Stage {
  readonly run: Run;
  /** Started at the first call. */
  world(): Promise<World>;
}

/** Everything of it ends with the run. */
export function openStage(run: Run): Stage {
  let world: Promise<World> | undefined;
  return { run, world: () => (world ??= openWorld(run)) };
}
