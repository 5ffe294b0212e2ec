import { expect } from 'chai';
import { decode, encode } from '../../proto/codec.ts';
import { LedgerService } from '../../proto/generated/ipledger.ts';
import { fakePosition, podLifeEvents } from './testing/fake-events.ts';
import { encodedEvent, watchWithBytes } from './watch-replies.ts';

describe('watchWithBytes', () => {
  const events = podLifeEvents(1);
  const bytes = encode('WatchReply', { position: fakePosition(4), events });

  it('watchWithBytes reads a reply like Ledger.Watch', () => {
    expect(watchWithBytes.responseDeserialize(bytes)).to.deep.equal(LedgerService.watch.responseDeserialize(bytes));
    const keepalive = encode('WatchReply', { position: fakePosition(4) });
    expect(watchWithBytes.responseDeserialize(keepalive).events).to.deep.equal([]);
  });

  it('watchWithBytes keeps the bytes of each event', () => {
    const received = watchWithBytes.responseDeserialize(bytes).events;
    expect(received.map((event) => decode('Event', encodedEvent(event)))).to.deep.equal(events);
    for (const [index, event] of received.entries()) {
      const kept = encodedEvent(event);
      expect(kept.buffer, 'a part of the reply').to.equal(bytes.buffer);
      expect(Buffer.from(kept).equals(encode('Event', events[index] ?? {}))).to.equal(true);
    }
  });

  it('encodedEvent encodes an event that was not received', () => {
    const [event] = events;
    expect(encodedEvent(event as never)).to.deep.equal(encode('Event', event as object));
  });
});
