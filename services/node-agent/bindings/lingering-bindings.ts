/**
 * Bindings of failed sandboxes that wait for the next sandbox of their Pod. While a Pod cannot
 * start, its runtime repeats ADD and DEL with a new container each time, and each would write two
 * events: a broken network of 1,000 Pods would write 12 GB a day.
 *
 * After three short-lived sandboxes the binding of the last one stays in the ledger, and protects
 * the address. The next sandbox takes it over without an event. If that sandbox survives, it gets a
 * binding of its own, and the old binding ends.
 *
 * Invariant: a running container has a binding in the ledger, its own or the one that its file
 * names (`boundAs`). Only the agent ends that binding. A file with `isDeleted` belongs to no
 * running container.
 */
import { storeNewest } from '../../../lib/maps.ts';
import { pause, timeoutSignal } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { KeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { BindingClient, BindResult } from './binding-client.ts';
import { type BindingFiles, type SavedBinding, type ContainerInterface, interfaceKey } from './binding-files.ts';
import type { EndableBinding } from './node-bindings.ts';
import { locateNamespace, type NamespacePlace, type NamespaceState, namespaceState } from '../network-namespace.ts';

/** A sandbox with a shorter life has failed. */
const shortLivedMs = 60_000;
/** Exceeds the time that a runtime waits between two sandboxes of a Pod. */
const lingerMs = 120_000;
const freeFailures = 3;
/** The size of each map. A map at its limit drops the entry that was used longest ago. */
const maxEntries = 20_000;
const everyMs = 15_000;
const callMs = 3_000;

export interface LingeringBindingsDeps {
  readonly allocator: BindingClient;
  readonly node: string;
  readonly bootId: string;
  readonly files: BindingFiles;
  readonly runExclusive: KeyedMutex;
  readonly log: Logger;
  /** Milliseconds of a monotonic clock; default: performance.now() */
  readonly now?: () => number;
  /** The look-up of a sandbox's state; default: `namespaceState` of network-namespace.ts */
  readonly namespaceState?: (place: NamespacePlace) => NamespaceState;
}

/** The container and the Pod of an ADD. */
export interface BindTarget extends EndableBinding {
  readonly podUid: string;
}

export class LingeringBindings {
  readonly #deps: LingeringBindingsDeps;
  readonly #now: () => number;
  /** The number of successive failed sandboxes, by attachment. */
  readonly #failures = new Map<string, number>();
  /** The time of the ADD of each container since the agent started. */
  readonly #addedAt = new Map<string, number>();
  /** The file of the binding that waits for the next sandbox, by attachment. */
  readonly #waiting = new Map<string, { readonly file: SavedBinding; readonly until: number }>();
  /** The containers of the waiting files, whose bindings must not be ended. */
  readonly #held = new Set<string>();

  constructor(deps: LingeringBindingsDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  /**
   * Takes over the binding of a failed sandbox at the start of an ADD, if one waits and the ledger
   * has it.
   * @returns undefined: bind as usual
   */
  async takeOver(target: BindTarget, netns: string, signal: AbortSignal): Promise<BindResult | undefined> {
    storeNewest(this.#addedAt, interfaceKey(target), this.#now(), maxEntries);
    const { files } = this.#deps;
    const own = files.get(target);
    const key = attachmentKey(target);
    const isRepeated = own !== undefined && !own.isDeleted;
    // The container already has a binding of its own, which Attach leaves as it is.
    if (isRepeated && own.boundAs === '') return undefined;
    const file = isRepeated ? { ...own, containerId: own.boundAs } : this.#waiting.get(key)?.file;
    if (!file) return undefined;
    if (!isRepeated) this.#waiting.delete(key);
    try {
      return await this.#useBindingOf(file, target, netns, signal);
    } catch (error) {
      this.#deps.log.debug({ err: error, ...target }, 'a lingering binding could not be taken over');
      return undefined;
    } finally {
      this.#held.delete(interfaceKey(file));
    }
  }

  async #useBindingOf(file: SavedBinding, target: BindTarget, netns: string, signal: AbortSignal) {
    const { allocator, files, node, bootId } = this.#deps;
    const { containerId, epoch } = file;
    const options = { timeoutMs: callMs, signal: timeoutSignal(callMs, signal) };
    const { allocation, probeAddresses } = await allocator.wait({ ...target, timeoutMs: 1 }, options);
    const isBound = allocation.bindings.some(
      (binding) =>
        binding.containerId === containerId &&
        binding.interface === target.interface &&
        binding.node === node &&
        binding.bootId === bootId,
    );
    if (!isBound) return undefined;
    const isSame = containerId === target.containerId;
    const addresses = allocation.addresses.map(({ address }) => address);
    const place = locateNamespace(netns);
    const boundAs = isSame ? '' : containerId;
    await files.save({ ...target, ...place, addresses, epoch, boundAs, isDeleted: false, isPending: false });
    if (!isSame) await files.remove(file);
    return { allocation, epoch, probeAddresses };
  }

  /**
   * Keeps the binding of an ended sandbox or failed ADD for the next sandbox, if several have
   * failed.
   * @returns false: end the binding of `boundAs`, or else that of the container
   */
  async keep(ended: SavedBinding): Promise<boolean> {
    const key = attachmentKey(ended);
    const addedAt = this.#addedAt.get(interfaceKey(ended)) ?? -Infinity;
    this.#addedAt.delete(interfaceKey(ended));
    const failures = this.#now() - addedAt < shortLivedMs ? (this.#failures.get(key) ?? 0) + 1 : 0;
    if (failures > 0) storeNewest(this.#failures, key, failures, maxEntries);
    else this.#failures.delete(key);
    if (failures <= freeFailures || this.#waiting.has(key)) return false;
    const { files, log } = this.#deps;
    const file = { ...ended, containerId: ended.boundAs || ended.containerId, boundAs: '', isDeleted: true };
    this.#waiting.set(key, { file, until: this.#now() + lingerMs });
    this.#held.add(interfaceKey(file));
    try {
      await files.save(file);
      if (file.containerId !== ended.containerId) await files.remove(ended);
      return true;
    } catch (error) {
      log.warn({ err: error, ...ended }, 'a binding file could not be written, so the binding is ended');
      this.#waiting.delete(key);
      this.#held.delete(interfaceKey(file));
      return false;
    }
  }

  /** Whether a DEL must not end the binding: it waits, or another container took it over. */
  isKept(container: ContainerInterface): boolean {
    const { files } = this.#deps;
    const saved = files.get(container);
    if (saved) return saved.isDeleted;
    return files.all().some((each) => each.boundAs === container.containerId && each.interface === container.interface);
  }

  /** Runs a pass now and every 15 s until the signal is aborted. */
  async settleForever(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.settle(signal);
      await pause(everyMs, signal);
    }
  }

  /** Binds living containers, and ends bindings without a sandbox. The next pass retries. */
  async settle(signal: AbortSignal): Promise<void> {
    const { files, runExclusive, log } = this.#deps;
    for (const [key, { file, until }] of this.#waiting) {
      if (until > this.#now()) continue;
      this.#waiting.delete(key);
      this.#held.delete(interfaceKey(file));
    }
    for (const saved of files.all()) {
      const isDue = saved.isDeleted
        ? !this.#held.has(interfaceKey(saved))
        : saved.boundAs !== '' && !this.#isShortLived(saved);
      if (!isDue || signal.aborted) continue;
      const settleOne = () => (files.get(saved) === saved ? this.#settleOne(saved, signal) : undefined);
      await runExclusive(interfaceKey(saved), signal, async () => settleOne()).catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error, ...saved }, 'settling a binding failed; the agent retries');
      });
    }
  }

  #isShortLived(container: ContainerInterface): boolean {
    return this.#now() - (this.#addedAt.get(interfaceKey(container)) ?? -Infinity) < shortLivedMs;
  }

  async #settleOne(saved: SavedBinding, signal: AbortSignal): Promise<void> {
    const { allocator, files, node, bootId, namespaceState: stateOf = namespaceState } = this.#deps;
    const { namespace, pod, podUid, provider, containerId, interface: name, boundAs, isDeleted } = saved;
    const target = { namespace, pod, provider, containerId, interface: name };
    const options = { timeoutMs: callMs, signal };
    // Must end the binding here: GC ends only bindings of containers that are bound themselves.
    if (isDeleted || stateOf(saved) === 'deleted') {
      await allocator.unbind({ ...target, containerId: boundAs || containerId }, options);
      await files.remove(saved);
      return;
    }
    await allocator.bind({ ...target, podUid, node, bootId }, options);
    await files.save(bindingThatServed(saved));
    await files.save({ ...saved, boundAs: '' });
    await this.#settleOne(bindingThatServed(saved), signal);
  }
}

/** The file of a binding that a container took over and no longer needs. */
export const bindingThatServed = (taker: SavedBinding): SavedBinding => ({
  ...taker,
  containerId: taker.boundAs,
  boundAs: '',
  isDeleted: true,
});

const attachmentKey = ({ namespace, pod, podUid, provider, interface: name }: BindTarget): string =>
  [namespace, pod, podUid, provider, name].join(' ');
