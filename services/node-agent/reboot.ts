/** What this node's earlier boots left bound: a reboot sends no DELs, and none of their containers is left. */
import { backoffMs, pause } from '../../lib/deadline.ts';
import type { Attached } from './asked.ts';
import { type BoundHere, bindingsOf, endBindings, turnOf } from './bindings.ts';
import type { GcDeps } from './gc.ts';

const firstRetryMs = 500;
const mostRetryMs = 60_000;

export interface EarlierBoots {
  /** Ends their bindings, trying again until all are ended or the signal is aborted. ADDs need not wait for it. */
  end(signal: AbortSignal): Promise<void>;
  /** A container was bound just now: should one of the same id have been bound before the reboot, that end is not its. */
  spare(container: Attached): void;
}

/** @param bootId of the boot that runs now */
export function earlierBoots({ allocator, node, inTurn, log }: GcDeps, bootId: string): EarlierBoots {
  let spared: Set<string> | undefined;

  async function endOnce(signal: AbortSignal): Promise<void> {
    const boundAnew = (spared = new Set()); // before looking: what is bound anew in between is not mistaken
    const here = await bindingsOf(node, allocator, signal);
    const stale = here.filter(({ binding }) => binding.bootId !== bootId);
    const isStale = ({ binding }: BoundHere): boolean => !boundAnew.has(turnOf(binding));
    const cause = 'UNBIND_CAUSE_NODE_REBOOTED';
    const [failed] = await endBindings(stale, { allocator, inTurn, cause, isStale }, signal);
    if (failed) throw failed;
    if (stale.length > 0) log.info({ node, ended: stale.length }, 'ended what earlier boots of this node left bound');
  }

  return {
    spare: (container) => void spared?.add(turnOf(container)),
    async end(signal) {
      for (let tries = 0; !signal.aborted; tries++) {
        try {
          await endOnce(signal);
          break;
        } catch (error) {
          if (signal.aborted) break;
          log.warn({ err: error, node }, 'what earlier boots of this node left bound could not be ended yet');
          await pause(backoffMs(tries, firstRetryMs, mostRetryMs), signal);
        }
      }
      spared = undefined;
    },
  };
}
