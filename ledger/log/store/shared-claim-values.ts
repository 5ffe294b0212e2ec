/**
 * Equal texts, lists and owners that many claims have, as one object each: namespaces, nodes, networks. A ledger with many live
 * allocations would otherwise hold a copy for each claim.
 */
import { SharedValues } from '../../../lib/shared-values.ts';
import type { Owner } from '../../domain/events/event.ts';

/** More distinct values than this are not of the kind that repeats. */
const maxShared = 20_000;

export class SharedClaimValues {
  readonly #texts = new SharedValues<string>(maxShared);
  readonly #lists = new SharedValues<readonly string[]>(maxShared);
  readonly #owners = new SharedValues<Owner>(maxShared);

  /** The first text that equals this one. */
  text(text: string): string {
    return this.#texts.share(text, text);
  }

  /** The first list with these texts. Lists are immutable. */
  list(texts: readonly string[]): readonly string[] {
    const [only = ''] = texts;
    return this.#lists.share(texts.length === 1 ? `1 ${only}` : JSON.stringify(texts), texts);
  }

  /** The first owner that equals this one. Owners are immutable. */
  owner(owner: Owner): Owner {
    const known = this.#owners.share(owner.uid, owner);
    return known.kind === owner.kind && known.name === owner.name ? known : owner;
  }
}
