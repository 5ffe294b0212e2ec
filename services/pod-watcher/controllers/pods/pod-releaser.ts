/**
 * Releases allocations that are no longer needed: those of ended Pods, except what transfers to a
 * new Pod of the name, and those that a living Pod no longer requests.
 */
import { IpledgerError } from '../../../../lib/errors.ts';
import { ledgerKeyOf } from '../../kubernetes/ledger-pods.ts';
import type { Pod } from '../../kubernetes/objects/pod.ts';
import type { LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { readPages } from '../../../../lib/ledger-client/pages.ts';
import type { HeldAllocation } from '../../ledger/ledger-events.ts';
import type { Outcome } from '../../work-queue/work-queue.ts';
import type { AllocationCache } from './allocation-cache.ts';
import type { PodTermination } from './pod-termination.ts';
import type { ReleaseReason } from './pod-owner.ts';

export interface PodReleaserOptions {
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly allocations: AllocationCache;
  readonly termination: PodTermination;
  readonly signal: AbortSignal;
}

/**
 * The present Pod of a name, and the allocations of an earlier Pod that it may receive. 'undecided'
 * while the releaser must keep them all; 'nothing' while it must release what ended, and keep what
 * an owner retains.
 */
export interface TransferTarget {
  readonly pod: Pod;
  readonly canReceive: 'undecided' | 'nothing' | ((held: HeldAllocation) => boolean);
}

export class PodReleaser {
  readonly #options: PodReleaserOptions;
  /** Pods that no longer request an address to which a container is still bound. */
  readonly stillBound = new Set<string>();

  constructor(options: PodReleaserOptions) {
    this.#options = options;
  }

  /** Releases a name's ended allocations. Returns 'again' while an end is in doubt. */
  async releaseEnded(key: string, target?: TransferTarget): Promise<Outcome> {
    const { allocations, termination } = this.#options;
    let outcome: Outcome = 'done';
    for (const uid of allocations.uids(key)) {
      const isEarlierPod = target !== undefined && target.pod.ledgerUid !== uid;
      if (isEarlierPod && target.canReceive === 'undecided') continue;
      const successor = isEarlierPod && target.canReceive !== 'nothing' ? target.pod : undefined;
      const ended = allocations.isReleasing(key, uid)
        ? 'unknown'
        : await termination.releaseReasonOf(key, uid, successor);
      if (ended === 'unknown') outcome = 'again';
      if (typeof ended === 'string') continue;
      const { reason, isRetained } = ended;
      // Keeps what the next Pod may receive only if an owner retains it. Two other Pods, created
      // again while they wait for what the other had, would wait for each other for ever.
      const transferable =
        isRetained && typeof target?.canReceive === 'function'
          ? allocations.allocationsOf(key, uid).filter(target.canReceive)
          : [];
      if (transferable.length > 0) await this.#releaseAllBut(transferable, { key, uid, reason });
      else if (!(await this.#releaseAll(key, uid, reason))) outcome = 'again';
    }
    termination.forget(key);
    return outcome;
  }

  /** Releases attachments that are no longer requested, once no container is bound. */
  async releaseDetached(pod: Pod, attachments: readonly HeldAllocation[]): Promise<Outcome> {
    const key = ledgerKeyOf(pod);
    this.stillBound.delete(key);
    // Waits while an API server that has lost data may show old annotations.
    if (attachments.length > 0 && this.#options.termination.mayBeOld(pod.namespace)) return 'again';
    const bound = attachments.length > 0 ? await this.#listBoundAddresses(pod) : new Set<string>();
    for (const held of attachments) {
      const evidence = `the Pod no longer requests an attachment to ${held.provider}`;
      const isBound = held.addresses.some(({ address }) => bound.has(boundKey(held.provider, address)));
      const reason = { cause: 'RELEASE_CAUSE_DETACHED', evidence } as const;
      if (isBound || !(await this.#releaseUnlessBound(held, reason))) this.stillBound.add(key);
    }
    return this.stillBound.has(key) ? 'again' : 'done';
  }

  /** @returns whether the ledger reports that the uid no longer holds anything */
  async #releaseAll(key: string, uid: string, reason: ReleaseReason): Promise<boolean> {
    const { allocator, allocations, signal } = this.#options;
    const [namespace = '', pod = ''] = key.split('/');
    const request = { namespace, pod, podUid: uid, ...reason };
    const { position } = await allocator.call(IpamService.release, request, signal);
    allocations.markReleased(key, uid, position?.seq ?? 0);
    return !allocations.uids(key).includes(uid);
  }

  async #releaseAllBut(
    excluded: readonly HeldAllocation[],
    { key, uid, reason }: { readonly key: string; readonly uid: string; readonly reason: ReleaseReason },
  ): Promise<void> {
    const others = this.#options.allocations
      .allocationsOf(key, uid)
      .filter(({ seq }) => !excluded.some((each) => each.seq === seq));
    for (const held of others) await this.#releaseOne(held, reason);
  }

  /**
   * Releases one allocation that its living Pod no longer requests.
   * @returns false if the ledger refuses, because a container was bound after the list of bindings
   */
  async #releaseUnlessBound(held: HeldAllocation, reason: ReleaseReason): Promise<boolean> {
    try {
      await this.#releaseOne(held, reason);
      return true;
    } catch (error) {
      if (IpledgerError.from(error).code === 'ADDRESS_IN_USE') return false;
      throw error;
    }
  }

  /** Releases one allocation. The ledger's event updates the cache. */
  async #releaseOne({ namespace, pod, uid, seq }: HeldAllocation, reason: ReleaseReason): Promise<void> {
    const { allocator, signal } = this.#options;
    const request = { namespace, pod, podUid: uid, allocationSeq: seq, ...reason };
    await allocator.call(IpamService.release, request, signal);
  }

  /** Lists the addresses to which containers of the Pod are bound. */
  async #listBoundAddresses({ node, namespace, ledgerName }: Pod): Promise<ReadonlySet<string>> {
    const { allocator, signal } = this.#options;
    const bound = new Set<string>();
    // Skips the list: a Pod without a node has no containers.
    if (node === '') return bound;
    const read = (pageToken: string) => allocator.call(IpamService.listBindings, { node, pageToken }, signal);
    for await (const { bindings } of readPages(read))
      for (const { attachment, addresses } of bindings)
        if (attachment?.pod === ledgerName && attachment.namespace === namespace)
          for (const address of addresses) bound.add(boundKey(attachment.provider, address));
    return bound;
  }
}

const boundKey = (provider: string, address: string): string => `${provider} ${address}`;
