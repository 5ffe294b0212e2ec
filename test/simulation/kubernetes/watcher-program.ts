/** A pod-watcher as a program of the simulation: all of it but its flags and its health server. */
import type { Lifecycle } from '../../../lib/process/lifecycle.ts';
import { runTerms } from '../../../services/pod-watcher/terms.ts';
import type { Machine } from '../kernel/machine.ts';
import type { Program } from '../kernel/program.ts';
import type { AgentEnvironment } from './agent-program.ts';
import { silentLog } from '../kernel/silent-log.ts';
import { simulatedApi } from './simulated-api.ts';

/** A stop takes at most this long: then the process is killed. */
const stopMs = 5_000;
export const watcherNamespace = 'kube-system';

export interface WatcherProgram {
  readonly program: Program;
  /** Ends it as a rollout does: it releases its Lease. */
  stop(): void;
}

/** @param identity differs for each start */
export function startWatcher(
  machine: Machine,
  identity: string,
  { server, connect }: AgentEnvironment,
): WatcherProgram {
  const stopping = new AbortController();
  const onStops: (() => unknown)[] = [];
  const main = async (): Promise<void> => {
    const life: Lifecycle = {
      signal: stopping.signal,
      onStop: (stop) => void onStops.push(stop),
      fail: (error) => program.fail(error),
    };
    await runTerms({
      api: simulatedApi(program, server),
      client: connect(program),
      namespace: watcherNamespace,
      identity,
      garbageIntervalMs: 360_000,
      checkpointIntervalMs: 0,
      allocatorTimeoutMs: 30_000,
      onReadiness: () => undefined,
      onActive: (watcher) => machine.world.trace(`${identity} ${watcher ? 'is' : 'is no longer'} active`),
      life,
      log: silentLog,
    });
  };
  const program = machine.start(identity, main);
  return {
    program,
    stop: () =>
      program.run(() => {
        stopping.abort();
        for (const stop of onStops) void Promise.resolve(stop()).catch(() => undefined);
        machine.world.after(stopMs, () => program.crash());
      }),
  };
}
