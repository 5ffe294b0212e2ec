/**
 * Ends the bindings of sandboxes that were deleted without a CNI DEL. A runtime may lose a DEL: the
 * shim of a thick Multus succeeds while its daemon is down, and no runtime repeats a DEL that
 * succeeded. The proof is that the network namespace of the ADD is absent at two successive checks.
 * Without proof the binding stays until DEL, reboot, or the end of its Node.
 */
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';
import { describeDeletion, locateNamespace, type NamespaceState, namespaceState } from '../network-namespace.ts';
import type { BindingClient } from './binding-client.ts';
import { type BindingFiles, type SavedBinding, interfaceKey } from './binding-files.ts';
import { endBindings } from './node-bindings.ts';

/** The interval is random, because agents start together. Two checks take at most 50 s. */
const minIntervalMs = 15_000;
const maxIntervalMs = 25_000;

export interface DeletedSandboxesDeps {
  readonly allocator: BindingClient;
  readonly files: BindingFiles;
  readonly runExclusive: KeyedMutex;
  readonly log: Logger;
}

export class DeletedSandboxes {
  readonly #deps: DeletedSandboxesDeps;
  /** Files whose sandbox was found deleted at the last check. */
  #suspects = new Set<SavedBinding>();
  #wasUnknown = false;

  constructor(deps: DeletedSandboxesDeps) {
    this.#deps = deps;
  }

  /** The number of bindings by the state of their sandbox. */
  get counts(): Readonly<Record<NamespaceState, number>> {
    const counts = { exists: 0, deleted: 0, unknown: 0 };
    for (const saved of this.#ownBindings) counts[namespaceState(saved)]++;
    return counts;
  }

  /** Checks about every 20 s until the signal is aborted. */
  async lookForever(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look(signal);
      await pause(minIntervalMs + Math.random() * (maxIntervalMs - minIntervalMs), signal);
    }
  }

  /** Ends bindings whose sandbox was deleted at the last two checks. The next check retries. */
  async look(signal: AbortSignal): Promise<void> {
    const { allocator, files, runExclusive, log } = this.#deps;
    for (const saved of this.#ownBindings) if (saved.netnsFolder === '') await this.#locate(saved, signal);
    const { deleted = [], unknown = [] } = Object.groupBy(this.#ownBindings, namespaceState);
    const stale = deleted.filter((saved) => this.#suspects.has(saved));
    this.#suspects = new Set(deleted);
    this.#reportUnknown(unknown);
    const ended: SavedBinding[] = [];
    const onEnded = async (saved: SavedBinding): Promise<void> => {
      await files.remove(saved);
      ended.push(saved);
    };
    const cause = 'UNBIND_CAUSE_GARBAGE_COLLECTED';
    const options = {
      allocator,
      runExclusive,
      cause,
      evidence: describeDeletion,
      isStale: (saved: SavedBinding) => files.get(saved) === saved && namespaceState(saved) === 'deleted',
      onEnded,
    } as const;
    const [error, ...others] = await endBindings(stale, options, signal);
    for (const { namespace, pod, provider, containerId, netns } of ended)
      log.info(
        { pod: `${namespace}/${pod}`, provider, containerId, netns },
        'ended the binding of a deleted sandbox: its CNI DEL never arrived',
      );
    if (error && !signal.aborted)
      log.warn(
        { err: error, failed: others.length + 1 },
        'ending the bindings of deleted sandboxes failed; the agent retries',
      );
  }

  /** Excludes bindings that lingering-bindings.ts ends or rebinds. */
  get #ownBindings(): readonly SavedBinding[] {
    return this.#deps.files.all().filter(({ boundAs, isDeleted }) => boundAs === '' && !isDeleted);
  }

  /** Records the namespace of a binding whose file, or whose ADD, did not have it. */
  async #locate(saved: SavedBinding, signal: AbortSignal): Promise<void> {
    const { files, runExclusive, log } = this.#deps;
    const place = locateNamespace(saved.netns);
    if (place.netnsFolder === '') return;
    const save = async (): Promise<void> => {
      if (files.get(saved) === saved) await files.save({ ...saved, ...place });
    };
    await runExclusive(interfaceKey(saved), signal, save).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error, netns: saved.netns }, 'writing a binding file failed');
    });
  }

  #reportUnknown([first, ...others]: readonly SavedBinding[]): void {
    const isUnknown = first !== undefined;
    if (isUnknown && !this.#wasUnknown)
      this.#deps.log.warn(
        { netns: first.netns, bindings: others.length + 1 },
        'the agent does not see the network namespaces of these bindings, so it does not know whether their sandboxes exist. Mount their folder (value agent.networkNamespaceFolder)',
      );
    this.#wasUnknown = isUnknown;
  }
}
