/** Ledger.Watch for the read model. Keeps the bytes of events, which the store writes unchanged. */
import protobuf from 'protobufjs/minimal.js';
import { encode } from '../../proto/codec.ts';
import { type Event, LedgerService, type WatchReply } from '../../proto/generated/ipledger.ts';

/** The tag of field 2 of a WatchReply. A length and the bytes of one event follow it. */
const eventTag = (2 << 3) | 2;

const receivedBytes = new WeakMap<Event, Uint8Array>();

/** The method to pass to `stream`. */
export const watchWithBytes: typeof LedgerService.watch = {
  ...LedgerService.watch,
  responseDeserialize: (bytes) => {
    const reply = LedgerService.watch.responseDeserialize(bytes);
    keepBytes(reply, bytes);
    return reply;
  },
};

function keepBytes({ events }: WatchReply, bytes: Uint8Array): void {
  const reader = protobuf.Reader.create(bytes);
  for (let index = 0; reader.pos < reader.len;) {
    const tag = reader.uint32();
    if (tag !== eventTag) {
      reader.skipType(tag & 7);
      continue;
    }
    const length = reader.uint32();
    const event = events[index++];
    if (event) receivedBytes.set(event, bytes.subarray(reader.pos, reader.pos + length));
    reader.skip(length);
  }
}

/** Returns the received bytes of an event, or encodes it. */
export const encodedEvent = (event: Event): Uint8Array => receivedBytes.get(event) ?? encode('Event', event);
