/**
 * Finds the events that dropped the claim of an address, because the history before them is not in
 * the claim. The events that dropped claims of a Subnet form a chain: the state names the last
 * ones, and each event names the ones before it.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import type { ClaimName } from '../../domain/state/claim.ts';
import type { EventReader } from '../store/ledger.ts';
import { parseLine } from '../store/stored-line.ts';

export class DropChain {
  readonly #ledger: EventReader;
  readonly #name: ClaimName;
  readonly #signal: AbortSignal;
  /** The events that dropped this claim, newest first, as far as the chain was read. */
  readonly #found: Seq[] = [];
  /** The next events of the chain to read. */
  #next: readonly Seq[];

  /** @param last the last events that dropped claims of the Subnet, newest first */
  constructor(ledger: EventReader, name: ClaimName, last: readonly Seq[], signal: AbortSignal) {
    this.#ledger = ledger;
    this.#name = name;
    this.#next = last;
    this.#signal = signal;
  }

  /**
   * The last event before `seq` that dropped the claim; 0 for none. Reads only as much of the chain
   * as needed, 64 events at a time.
   * @throws IpledgerError LEDGER_DAMAGED for another type of event in the chain; errors of the
   * ledger.
   */
  async lastBefore(seq: Seq): Promise<Seq> {
    const found = this.#found.find((each) => each < seq);
    if (found !== undefined || this.#next.length === 0) return found ?? 0;
    await this.#readNext();
    return this.lastBefore(seq);
  }

  async #readNext(): Promise<void> {
    const { subnet, address } = this.#name;
    const seqs = this.#next;
    const lines = await this.#ledger.readEach(seqs, this.#signal);
    let next: readonly Seq[] = [];
    for (const [index, seq] of seqs.entries()) {
      const line = lines[index];
      const event = line && parseLine(line).sequenced;
      if (event?.type !== 'ClaimsDropped' || event.subnet !== subnet)
        throw new IpledgerError(
          'LEDGER_DAMAGED',
          `event ${seq} is listed as one that dropped claims of Subnet ${subnet}, but it is another event. Run: ipledger verify`,
        );
      if (event.data.addresses.includes(address)) this.#found.push(seq);
      next = event.data.previous;
    }
    // Ensures that the chain ends, even in a log that another program wrote.
    this.#next = next.filter((each) => each < (seqs.at(-1) ?? 0));
  }
}
