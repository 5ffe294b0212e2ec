/**
 * Encodes the events of Watch once for all streams. Several programs follow the ledger, and their
 * streams send the same new events at the same time.
 */
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import type { StoredEvent } from '../../../../ledger/log/chain/chain.ts';
import { eventMessage } from '../messages.ts';

/** The most events in a reply. A stream that is further behind encodes its events itself. */
const maxKept = 512;

interface Encoded {
  readonly event: StoredEvent;
  readonly bytes: Buffer;
}

export class EncodedEvents {
  /** The encoded events, at their number modulo the length. */
  readonly #kept = Array.from<Encoded | undefined>({ length: maxKept });

  /**
   * Encodes a WatchReply with this event alone. Protobuf concatenates lists, so the bytes of
   * several such replies, one after another, are a reply with all events.
   */
  encode(event: StoredEvent): Buffer {
    const slot = event.envelope.seq % maxKept;
    const known = this.#kept[slot];
    if (known?.event === event) return known.bytes;
    const bytes = LedgerService.watch.responseSerialize({ events: [eventMessage(event)] });
    if (known !== undefined && known.event.envelope.seq > event.envelope.seq) return bytes;
    const kept = { event, bytes: withOwnMemory(bytes) };
    this.#kept[slot] = kept;
    return kept.bytes;
  }
}

/**
 * A small buffer is a part of a slab of 64 KiB, which it would keep: 512 events kept up to 32 MiB.
 */
function withOwnMemory(pooled: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(pooled.length);
  pooled.copy(own);
  return own;
}
