import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { decode, encode } from '../../../../proto/codec.ts';
import { eventVersions } from '../../../../ledger/domain/events/schema-version.ts';
import { parseEvent, type StoredEvent } from '../../../../ledger/log/chain/chain.ts';
import { eventMessage } from '../messages.ts';
import { EncodedEvents } from './encoded-events.ts';

const golden = eventVersions.flatMap((version) =>
  readFileSync(join(import.meta.dirname, `../../../../test/golden/events-v${version}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n')
    .map(parseEvent),
);
const position = { epoch: 3, seq: 2 ** 53 - 1, hash: 'h' };

/** Changes the number of an event. */
const numbered = (event: StoredEvent, seq: number): StoredEvent => ({ ...event, envelope: { ...event.envelope, seq } });

describe('Encoded events', () => {
  it('concatenated encoded events of any type and version are a reply with these events', () => {
    const encoded = new EncodedEvents();
    const some = fc.array(fc.tuple(fc.constantFrom(...golden), fc.integer({ min: 1, max: 2_000 })));
    fc.assert(
      fc.property(some, (chosen) => {
        const events = chosen.map(([event, seq]) => numbered(event, seq));
        const expected = encode('WatchReply', { position, events: events.map(eventMessage) });
        const parts = events.map((event) => encoded.encode(event));
        const reply = Buffer.concat([encode('WatchReply', { position }), ...parts]);
        expect(decode('WatchReply', reply)).to.deep.equal(decode('WatchReply', expected));
        expect(reply.equals(expected)).to.be.true;
      }),
    );
  });

  it('an event is encoded once while it is among the last events', () => {
    const encoded = new EncodedEvents();
    const events = Array.from({ length: 512 }, (_, seq) => numbered(golden[0] as StoredEvent, seq));
    const first = events.map((event) => encoded.encode(event));
    expect(events.map((event) => encoded.encode(event))).to.satisfy((again: readonly Buffer[]) =>
      again.every((bytes, index) => bytes === first[index]),
    );
  });

  it('a kept event keeps its own bytes alone, and not a slab of the pool of buffers', () => {
    const encoded = new EncodedEvents();
    const kept = golden.map((event, seq) => encoded.encode(numbered(event, seq)));
    expect(kept.map(({ buffer }) => buffer.byteLength)).to.deep.equal(kept.map(({ length }) => length));
  });

  it('the encoded events of a number are those of the given event, even if another event had the number before', () => {
    const encoded = new EncodedEvents();
    const [one, other] = [golden[0], golden[1]].map((event) => numbered(event as StoredEvent, 7));
    for (const event of [one, other, one] as StoredEvent[])
      expect(decode('WatchReply', encoded.encode(event))).to.deep.equal(
        decode('WatchReply', encode('WatchReply', { events: [eventMessage(event)] })),
      );
  });
});
