/** Runs one seed of a simulation: a world of its own in virtual time, from its start to its end. */
import { installVirtualTime } from './kernel/virtual-time.ts';
import { World } from './kernel/world.ts';
import type { Outcome, PlanItem, RunOptions } from './plan.ts';

/** @param live runs the world, and returns the number of the last event in the log */
export async function runSeed(
  seed: number,
  { keepsHistory = false }: RunOptions,
  live: (world: World) => Promise<number>,
): Promise<Outcome> {
  const uninstall = installVirtualTime();
  const { stackTraceLimit } = Error;
  if (!keepsHistory) Error.stackTraceLimit = 0;
  const world = new World(seed, keepsHistory);
  const onRejection = (error: unknown): void =>
    world.fail('unhandled rejection', String((error as Error).stack ?? error));
  process.on('unhandledRejection', onRejection);
  try {
    const events = await live(world);
    const { violation, traceHash, steps, now: virtualMs, history = [] } = world;
    const { message, invariant } = violation ?? {};
    return { violation: message, invariant, traceHash, steps, virtualMs, events, history };
  } finally {
    process.off('unhandledRejection', onRejection);
    Error.stackTraceLimit = stackTraceLimit;
    uninstall();
  }
}

/** Lets the items of a plan act on `run`, each at its time. */
export function schedule<Run>(world: World, items: readonly PlanItem<Run>[], run: Run, { only }: RunOptions): void {
  for (const { id, atMs, what, act } of items) {
    if (only && !only.has(id)) continue;
    const begin = (): void => {
      world.trace(`${id}: ${what}`);
      act(run);
    };
    world.after(atMs, begin, undefined, 'plan');
  }
}
