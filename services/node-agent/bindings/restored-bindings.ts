/**
 * Brings the bindings of a restored ledger to the state of this node. When the epoch has changed,
 * the agent binds what its binding files contain and the ledger lacks, if the Pod still has the
 * same address. Then it ends what the ledger has and the files lack. Within an epoch it binds
 * nothing again: a binding that the ledger lacks was ended.
 */
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { requirePosition } from '../../../lib/ledger-client/ledger-client.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import type { BindingClient } from './binding-client.ts';
import { type BindingFiles, type SavedBinding, type ContainerInterface, interfaceKey } from './binding-files.ts';
import type { LedgerEpoch } from './ledger-epoch.ts';
import { listNodeBindings } from './node-bindings.ts';
import { endReturnedBindings } from './returned-bindings.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';

/**
 * The interval of comparisons with the ledger, while the folder lacks a file of a running
 * container.
 */
const compareAgainMs = 600_000;
/** The interval of passes, which retry bindings and notice an ended connection. */
const everyMs = 30_000;
const callMs = 3_000;
const concurrentBinds = 16;

export interface RestoreBindingsDeps {
  readonly allocator: BindingClient;
  readonly node: string;
  readonly bootId: string;
  readonly epoch: LedgerEpoch;
  readonly runExclusive: KeyedMutex;
  readonly files: BindingFiles;
  /** Whether the container has a pending DEL. */
  readonly hasPendingDel: (container: ContainerInterface) => boolean;
  readonly log: Logger;
  /** Milliseconds of a monotonic clock; default: performance.now() */
  readonly now?: () => number;
}

/**
 * Runs a pass when a reply of the allocator states another epoch, and every 30 s, until the signal
 * is aborted. Almost every pass compares numbers in memory only. Logs a pass that fails.
 */
export async function restoreBindingsForever(deps: RestoreBindingsDeps, signal: AbortSignal): Promise<void> {
  const pass = createRestorePass(deps);
  while (!signal.aborted) {
    await pass(signal).catch((error: unknown) => {
      if (!signal.aborted)
        deps.log.warn({ err: error }, 'comparing the binding files with the ledger failed; the agent retries');
    });
    await deps.epoch.untilChange(timeoutSignal(everyMs, signal));
  }
}

/**
 * Makes the function of one pass, which resolves to the number of bindings that it restored.
 * @throws IpledgerError when the allocator is unavailable
 */
export function createRestorePass(deps: RestoreBindingsDeps): (signal: AbortSignal) => Promise<number> {
  const { allocator, node, bootId, files, runExclusive, hasPendingDel, log, now = () => performance.now() } = deps;
  const logged = new Map<string, string>();
  let comparedAt = -Infinity;

  return async (signal) => {
    await files.record.repeatDiscard();
    const epoch = await epochOf(deps, signal);
    if (epoch === undefined) return 0;
    const stale = files.all().filter((saved) => !saved.isPending && !saved.isDeleted && saved.epoch !== epoch);
    const { epoch: comparedEpoch } = files.record;
    const isCompared = comparedEpoch === undefined ? now() < comparedAt + compareAgainMs : comparedEpoch === epoch;
    if (stale.length === 0 && isCompared) return 0;
    comparedAt = now();
    const { discards } = files.record;
    const bindings = await listNodeBindings(node, allocator, signal);
    const bound = new Set(
      bindings.filter(({ binding }) => binding.bootId === bootId).map(({ binding }) => interfaceKey(binding)),
    );
    const semaphore = createSemaphore(concurrentBinds, stale.length);
    const restoreOne = async (saved: SavedBinding): Promise<number> => {
      if (files.get(saved) !== saved || saved.isDeleted || hasPendingDel(saved)) return 0;
      const isBound = bound.has(interfaceKey({ ...saved, containerId: saved.boundAs || saved.containerId }));
      if (isBound) await files.save({ ...saved, epoch });
      else await files.save({ ...saved, epoch: await bindAgain(deps, saved, signal), boundAs: '' });
      logged.delete(interfaceKey(saved));
      return isBound ? 0 : 1;
    };
    const restores = stale.map((saved) =>
      semaphore(signal, () => runExclusive(interfaceKey(saved), signal, () => restoreOne(saved))).catch(
        (thrown: unknown) => {
          logFailure(saved, IpledgerError.from(thrown), logged, log);
          return 0;
        },
      ),
    );
    const restored = (await Promise.all(restores)).reduce((sum, count) => sum + count, 0);
    if (restored > 0)
      log.info({ restored, node, epoch }, 'the ledger was restored from a backup: its lost bindings are bound again');
    await endReturnedBindings(deps, { epoch, bindings, discards }, signal);
    return restored;
  };
}

/**
 * Returns the epoch of the ledger; undefined if no reply has stated it yet. Sends a request only
 * after a connection has ended.
 */
async function epochOf(
  { allocator, node, epoch }: RestoreBindingsDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!epoch.isOutdated) return epoch.current;
  const { position } = await allocator.listBindings({ node, pageSize: 1 }, { timeoutMs: callMs, signal });
  epoch.record(requirePosition(position));
  return epoch.current;
}

async function bindAgain(
  { allocator, node, bootId }: RestoreBindingsDeps,
  saved: SavedBinding,
  signal: AbortSignal,
): Promise<number> {
  const { namespace, pod, podUid, provider, containerId, interface: name } = saved;
  const target = { namespace, pod, podUid, provider, containerId, interface: name };
  const found = await allocator.wait({ ...target, timeoutMs: 1 }, { timeoutMs: callMs, signal });
  assertSameAddresses(saved, found.allocation);
  const { allocation, epoch } = await allocator.bind({ ...target, node, bootId }, { timeoutMs: callMs });
  try {
    assertSameAddresses(saved, allocation);
  } catch (error) {
    await allocator.unbind({ namespace, pod, provider, containerId, interface: name }, { timeoutMs: callMs });
    throw error;
  }
  return epoch;
}

function assertSameAddresses({ addresses }: SavedBinding, allocation: Allocation): void {
  const current = allocation.addresses.map(({ address }) => address);
  if (current.length === addresses.length && current.every((address) => addresses.includes(address))) return;
  throw new IpledgerError('CHECK_FAILED', `the Pod has ${current.join(', ')} in the ledger now`);
}

/** Logs each failure once, until its message changes. */
function logFailure(saved: SavedBinding, error: IpledgerError, logged: Map<string, string>, log: Logger): void {
  if (error.kind === 'transient' || logged.get(interfaceKey(saved)) === error.message) return;
  logged.set(interfaceKey(saved), error.message);
  const { namespace, pod, provider, containerId, interface: name, addresses } = saved;
  log.warn(
    { pod: `${namespace}/${pod}`, provider, containerId, interface: name, addresses, code: error.code },
    `the binding of ${addresses.join(', ')} cannot be restored in the ledger: ${error.message}. While the container runs, quarantine the address: ipledger quarantine`,
  );
}
