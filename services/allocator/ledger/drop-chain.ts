/**
 * The way to what happened to an address before its claim was dropped. The events that dropped claims of a subnet are a chain:
 * the state names the last of them, and each names those before it.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import type { ClaimName } from '../domain/journal.ts';
import { parseEvent } from './chain.ts';
import type { EventReader } from './ledger.ts';

export class DropChain {
  readonly #ledger: EventReader;
  readonly #name: ClaimName;
  readonly #signal: AbortSignal;
  /** Those that dropped this claim, newest first, as far as the chain was read. */
  readonly #found: Seq[] = [];
  /** Where it goes on. */
  #next: readonly Seq[];

  /** @param last the events that dropped claims of the subnet last, newest first. */
  constructor(ledger: EventReader, name: ClaimName, last: readonly Seq[], signal: AbortSignal) {
    this.#ledger = ledger;
    this.#name = name;
    this.#next = last;
    this.#signal = signal;
  }

  /**
   * The last event before another one that dropped the claim; 0 for none. Reads the chain as far as it has to, 64 events at a time.
   * @throws IpledgerError LEDGER_DAMAGED for an event that dropped nothing; what the ledger throws.
   */
  async lastBefore(seq: Seq): Promise<Seq> {
    for (;;) {
      const found = this.#found.find((each) => each < seq);
      if (found !== undefined) return found;
      if (this.#next.length === 0) return 0;
      await this.#readOn();
    }
  }

  async #readOn(): Promise<void> {
    const { subnet, address } = this.#name;
    const seqs = this.#next;
    const lines = await this.#ledger.readEach(seqs, this.#signal);
    let next: readonly Seq[] = [];
    for (const [index, seq] of seqs.entries()) {
      const line = lines[index];
      const event = line && parseEvent(line.text).sequenced;
      if (event?.type !== 'ClaimsDropped' || event.subnet !== subnet)
        throw new IpledgerError(
          'LEDGER_DAMAGED',
          `event ${seq} is named as one that dropped claims of subnet ${subnet}, and it is not: see ipledger verify`,
        );
      if (event.data.addresses.includes(address)) this.#found.push(seq);
      next = event.data.previous;
    }
    // Also in a log that was written anew by hand the chain has an end.
    this.#next = next.filter((each) => each < (seqs.at(-1) ?? 0));
  }
}
