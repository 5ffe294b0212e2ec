/**
 * A ledger that was restored from a backup lacks bindings that were made since. The agent binds again what its files hold, once an
 * operator began a new epoch, and as far as the Pod has the same address there. Within an epoch nothing is bound again: what the
 * ledger lacks was ended.
 */
import { pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Allocation } from '../../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import type { Attached } from './asked.ts';
import type { BindingFiles, KeptBinding } from './binding-files.ts';
import { bindingsOf, turnOf } from './bindings.ts';
import { createGate } from './gate.ts';
import type { TakeTurn } from './turns.ts';

const everyMs = 30_000;
const callMs = 3_000;
const atOnce = 16;

export interface RestoringDeps {
  readonly allocator: Allocator;
  readonly node: string;
  readonly bootId: string;
  readonly inTurn: TakeTurn;
  readonly files: BindingFiles;
  /** Whether a DEL of the container waits to be done. */
  readonly isLeft: (container: Attached) => boolean;
  readonly log: Logger;
}

/** Compares, now and every half minute, until the signal is aborted. A pass that fails is logged and repeated. */
export async function restoreForever(deps: RestoringDeps, signal: AbortSignal): Promise<void> {
  const pass = createRestoring(deps);
  while (!signal.aborted) {
    await pass(signal).catch((error: unknown) => {
      if (!signal.aborted)
        deps.log.warn({ err: error }, 'bindings could not be compared with the ledger; repeated later');
    });
    await pause(everyMs, signal);
  }
}

/**
 * Makes the function that does one pass, and resolves to how many were bound again.
 * @throws IpledgerError when the allocator does not answer
 */
export function createRestoring(deps: RestoringDeps): (signal: AbortSignal) => Promise<number> {
  const { allocator, node, bootId, files, inTurn, isLeft, log } = deps;
  const logged = new Map<string, string>();

  return async (signal) => {
    if (files.all().length === 0) return 0;
    const epoch = await epochOf(deps, signal);
    const stale = files.all().filter((kept) => kept.epoch !== epoch);
    if (stale.length === 0) return 0;
    const here = await bindingsOf(node, allocator, signal);
    const bound = new Set(
      here.filter(({ binding }) => binding.bootId === bootId).map(({ binding }) => turnOf(binding)),
    );
    const gate = createGate(atOnce, stale.length);
    const one = async (kept: KeptBinding): Promise<number> => {
      if (files.of(kept) !== kept || isLeft(kept)) return 0;
      if (bound.has(turnOf(kept))) await files.keep({ ...kept, epoch });
      else await files.keep({ ...kept, epoch: await bindAgain(deps, kept, signal) });
      logged.delete(turnOf(kept));
      return bound.has(turnOf(kept)) ? 0 : 1;
    };
    const each = stale.map((kept) =>
      gate(signal, () => inTurn(turnOf(kept), signal, () => one(kept))).catch((thrown: unknown) => {
        report(kept, IpledgerError.from(thrown), logged, log);
        return 0;
      }),
    );
    const restored = (await Promise.all(each)).reduce((sum, count) => sum + count, 0);
    if (restored > 0)
      log.info({ restored, node, epoch }, 'the ledger was restored from a backup: bound again what containers have');
    return restored;
  };
}

async function epochOf({ allocator, node }: RestoringDeps, signal: AbortSignal): Promise<number> {
  const { position } = await allocator.listBindings({ node, pageSize: 1 }, { timeoutMs: callMs, signal });
  if (!position) throw new IpledgerError('BUG', 'the allocator answered without a position');
  return position.epoch;
}

async function bindAgain(
  { allocator, node, bootId }: RestoringDeps,
  kept: KeptBinding,
  signal: AbortSignal,
): Promise<number> {
  const { namespace, pod, podUid, provider, containerId, interface: name } = kept;
  const who = { namespace, pod, podUid, provider, containerId, interface: name };
  assertSame(kept, await allocator.wait({ ...who, timeoutMs: 1 }, { timeoutMs: callMs, signal }));
  const { allocation, epoch } = await allocator.bind({ ...who, node, bootId }, { timeoutMs: callMs });
  try {
    assertSame(kept, allocation);
  } catch (error) {
    await allocator.unbind({ namespace, pod, provider, containerId, interface: name }, { timeoutMs: callMs });
    throw error;
  }
  return epoch;
}

function assertSame({ addresses }: KeptBinding, allocation: Allocation): void {
  const held = allocation.addresses.map(({ address }) => address);
  if (held.length === addresses.length && held.every((address) => addresses.includes(address))) return;
  throw new IpledgerError('CHECK_FAILED', `the ledger gives the Pod ${held.join(', ')} now`);
}

/** Each finding once, until it changes. */
function report(kept: KeptBinding, error: IpledgerError, logged: Map<string, string>, log: Logger): void {
  if (error.kind === 'transient' || logged.get(turnOf(kept)) === error.message) return;
  logged.set(turnOf(kept), error.message);
  const { namespace, pod, provider, containerId, interface: name, addresses } = kept;
  log.warn(
    { pod: `${namespace}/${pod}`, provider, containerId, interface: name, addresses, code: error.code },
    `the restored ledger does not take back the binding of ${addresses.join(', ')}: ${error.message}. While the container runs, quarantine the address: ipledger quarantine`,
  );
}
