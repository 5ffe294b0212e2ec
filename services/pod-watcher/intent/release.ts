/**
 * Gives back what is not needed any more: all that a Pod held who is gone, but for what its namesake takes over; and what a
 * Pod that lives does not ask for any more.
 */
import { ledgerKeyOf } from '../kubernetes/ledger-pods.ts';
import type { Pod } from '../kubernetes/objects.ts';
import type { Allocator } from '../ledger/allocator.ts';
import type { Holding } from '../ledger/facts.ts';
import type { Outcome } from '../queue.ts';
import type { Endings } from './endings.ts';
import type { Holdings } from './holdings.ts';
import type { Ending } from './owner.ts';

export interface ReleasesOptions {
  readonly allocator: Pick<Allocator, 'release' | 'listBindings'>;
  readonly holdings: Holdings;
  readonly endings: Endings;
  readonly signal: AbortSignal;
}

/** Who has a name now, and what of an earlier Pod's it may yet be given: all while that is not decided. */
export interface Heir {
  readonly uid: string;
  readonly awaits: 'all' | ((holding: Holding) => boolean);
}

export class Releases {
  readonly #options: ReleasesOptions;
  /** Pods that have given up something on which a container may answer still. */
  readonly bound = new Set<string>();

  constructor(options: ReleasesOptions) {
    this.#options = options;
  }

  /** Releases what was held under a name and has ended. 'again' while there is doubt, or something is left. */
  async ended(key: string, heir?: Heir): Promise<Outcome> {
    const { holdings, endings } = this.#options;
    let outcome: Outcome = 'done';
    for (const uid of holdings.uids(key)) {
      const inherited = heir !== undefined && heir.uid !== uid;
      if (inherited && heir.awaits === 'all') continue;
      const ending = holdings.releasing(key, uid) ? 'unsure' : await endings.of(key, uid, inherited);
      if (ending === 'unsure') outcome = 'again';
      if (typeof ending === 'string') continue;
      const awaited = inherited && heir.awaits !== 'all' ? holdings.of(key, uid).filter(heir.awaits) : [];
      if (awaited.length > 0) await this.#allBut(awaited, { key, uid, ending });
      else if (!(await this.#all(key, uid, ending))) outcome = 'again';
    }
    endings.forget(key);
    return outcome;
  }

  /** Releases attachments that a living Pod has given up; one on which a container may answer stays until that has ended. */
  async givenUp(pod: Pod, attachments: readonly Holding[]): Promise<Outcome> {
    const key = ledgerKeyOf(pod);
    this.bound.delete(key);
    // What an API server says that forgets ends nothing.
    if (attachments.length > 0 && this.#options.endings.vanished > 0) return 'again';
    const bound = attachments.length > 0 ? await this.#boundTo(pod) : new Set<string>();
    for (const holding of attachments) {
      const evidence = `the Pod does not ask for an attachment to ${holding.provider} any more`;
      if (holding.addresses.some(({ address }) => bound.has(boundKey(holding.provider, address)))) this.bound.add(key);
      else await this.#one(holding, { cause: 'RELEASE_CAUSE_DETACHED', evidence });
    }
    return this.bound.has(key) ? 'again' : 'done';
  }

  /** Whether all that a uid held is known to be released: the ledger tells of that in a moment; what is fenced is left. */
  async #all(key: string, uid: string, ending: Ending): Promise<boolean> {
    const { allocator, holdings, signal } = this.#options;
    const [namespace = '', pod = ''] = key.split('/');
    const { position } = await allocator.release({ namespace, pod, podUid: uid, ...ending }, signal);
    holdings.released(key, uid, position?.seq ?? 0);
    return !holdings.uids(key).includes(uid);
  }

  async #allBut(
    awaited: readonly Holding[],
    { key, uid, ending }: { readonly key: string; readonly uid: string; readonly ending: Ending },
  ): Promise<void> {
    const others = this.#options.holdings.of(key, uid).filter((holding) => !awaited.includes(holding));
    for (const holding of others) await this.#one(holding, ending);
  }

  /** The ledger will tell of it. */
  async #one({ namespace, pod, uid, seq }: Holding, ending: Ending): Promise<void> {
    const { allocator, signal } = this.#options;
    await allocator.release({ namespace, pod, podUid: uid, allocationSeq: seq, ...ending }, signal);
  }

  /** What containers of the Pod may answer on: asked once, however much it gives up. */
  async #boundTo({ node, namespace, ledgerName }: Pod): Promise<ReadonlySet<string>> {
    const { allocator, signal } = this.#options;
    const found = new Set<string>();
    // Nothing is bound of a Pod that is on no node yet.
    if (node === '') return found;
    for (let pageToken = ''; ;) {
      const { bindings, nextPageToken } = await allocator.listBindings({ node, pageToken }, signal);
      for (const { attachment, addresses } of bindings)
        if (attachment?.pod === ledgerName && attachment.namespace === namespace)
          for (const address of addresses) found.add(boundKey(attachment.provider, address));
      pageToken = nextPageToken;
      if (pageToken === '') return found;
    }
  }
}

const boundKey = (provider: string, address: string): string => `${provider} ${address}`;
