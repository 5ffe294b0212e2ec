import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { decode, encode } from '../../../proto/codec.ts';
import type { Event } from '../../../proto/generated/ipledger.ts';
import { chained, positionAfter } from '../testing/chained-events.ts';
import { podLifeEvents, temporaryFile } from '../testing/fake-events.ts';
import { packPage, unpackPage } from './event-pages.ts';
import { EventStore } from './event-store.ts';
import { StoreDamaged, verifyStore } from './verify-store.ts';

/** 200 events of 50 Pods on two nodes: three full pages, and one that is not full. */
const events = chained(
  Array.from({ length: 50 }, (_, index) =>
    podLifeEvents(4 * index + 1, { pod: `pod-${index}`, node: `node-${index % 2}` }),
  ).flat(),
);

describe('verifyStore', () => {
  let place: ReturnType<typeof temporaryFile>;
  beforeEach(() => {
    place = temporaryFile();
    const store = new EventStore(place.file);
    for (const [first, last] of [
      [0, 100],
      [100, 190],
    ] as const)
      store.append(events.slice(first, last), positionAfter(events.slice(0, last)));
    store.close();
  });
  afterEach(() => place.remove());

  /** Verifies the file. @param atStep called before each step */
  function verify(atStep?: (store: EventStore, step: number) => void): unknown {
    const store = new EventStore(place.file);
    const scratchFile = `${place.file}-verification`;
    const steps = verifyStore(store, scratchFile);
    try {
      for (let step = 0; ; step++) {
        atStep?.(store, step);
        if (steps.next().done) return undefined;
      }
    } catch (error) {
      return error;
    } finally {
      store.close();
      expect(existsSync(scratchFile)).to.equal(false);
    }
  }

  function edit(work: (database: DatabaseSync) => void): void {
    const database = new DatabaseSync(place.file);
    work(database);
    database.close();
  }

  /**
   * Changes an event of the page that begins with `first`, and corrects the hashes of all pages.
   */
  function rewrite(first: number, change: (event: Event) => object): void {
    edit((database) => {
      const pages = database.prepare('SELECT first, packed FROM pages ORDER BY first').all() as {
        first: number;
        packed: Uint8Array;
      }[];
      let before: Uint8Array = new Uint8Array(0);
      for (const page of pages) {
        const messages = unpackPage(page.packed);
        if (page.first === first) {
          const event = decode('Event', messages[1] as Uint8Array) as Event;
          messages[1] = encode('Event', { ...event, ...change(event) });
        }
        const packed = packPage(messages);
        before = createHash('sha256').update(before).update(packed).digest();
        database.prepare('UPDATE pages SET packed = ?, hash = ? WHERE first = ?').run(packed, before, page.first);
      }
    });
  }

  for (const [when, grownAt] of [
    ['in the middle of the verification', 1],
    ['after its last page, which is not full, is verified', 3],
  ] as const)
    it(`verifyStore finds nothing in a correct file, even if it grows ${when}`, () => {
      expect(verify()).to.equal(undefined);
      const grown = verify((store, step) => {
        if (step === grownAt) store.append(events.slice(190), positionAfter(events));
      });
      expect(grown).to.equal(undefined);
      expect(verify()).to.equal(undefined);
    });

  it('verifyStore finds nothing in an empty file, and in a file that begins in the middle of the ledger', () => {
    place.remove();
    place = temporaryFile();
    expect(verify()).to.equal(undefined);
    const store = new EventStore(place.file);
    store.append(events.slice(100), positionAfter(events));
    store.close();
    expect(verify()).to.equal(undefined);
  });

  const damages: Record<string, [() => void, RegExp]> = {
    'an edited page': [
      () => edit((database) => database.exec("UPDATE pages SET packed = x'00' WHERE first = 65")),
      /^the page of event 65 does not have its hash$/,
    ],
    'a page of an earlier version of the file': [
      () => edit((database) => database.exec('UPDATE pages SET hash = (SELECT hash FROM pages WHERE first = 1)')),
      /^the page of event 65 does not have its hash$/,
    ],
    'a missing page': [
      () => edit((database) => database.exec('DELETE FROM pages WHERE first = 65')),
      /^the page of event 65 is missing$/,
    ],
    'an event whose line was edited, with correct hashes of pages': [
      () => rewrite(65, ({ stored }) => ({ stored: stored.replace('node-1', 'node-2').replace('"v":1', '"v":2') })),
      /^event 66 does not have its hash$/,
    ],
    'an event that does not follow the one before': [
      () =>
        rewrite(65, ({ stored }) => {
          const forged = stored.replace(/"prev":"\w+"/, '"prev":"00"');
          return { stored: forged, prev: '00', hash: createHash('sha256').update(forged).digest('hex') };
        }),
      /^event 66 does not follow the event before$/,
    ],
    'an event whose decoded fields differ from its line': [
      () => rewrite(65, () => ({ actor: 'ipledger://operator/eve' })),
      /^event 66 differs from its line in actor$/,
    ],
    'an event whose decoded Pod differs from its line': [
      () =>
        rewrite(65, ({ addressBound: bound }) => {
          const attachment = { namespace: 'default', provider: 'lan.default', ordinal: 0, ...bound?.attachment };
          return { addressBound: { ...bound, attachment: { ...attachment, pod: 'other' } } };
        }),
      /^event 66 has "other", which is not in its line$/,
    ],
    'an index row that is missing': [
      () => edit((database) => database.exec('DELETE FROM events WHERE seq = 70')),
      /^the index differs from the events 65 to 128$/,
    ],
    'an index row of another Pod': [
      () => edit((database) => database.exec('UPDATE events SET pod = 1 WHERE seq = 70')),
      /^the index differs from the events 65 to 128$/,
    ],
    'an address that no event changed': [
      () => edit((database) => database.exec('INSERT INTO changes (subnet, seq, ip, state) VALUES (1, 70, 5, 3)')),
      /^the index differs from the events 65 to 128$/,
    ],
    'a renamed Pod': [
      () => edit((database) => database.exec("UPDATE pods SET name = 'other' WHERE name = 'pod-0'")),
      /^the index differs from the events 1 to 64$/,
    ],
    'another position': [
      () => edit((database) => database.exec("UPDATE about SET value = json_set(value, '$.hash', '00')")),
      /^event 190 has not the hash of the position$/,
    ],
  };
  for (const [what, [damage, expected]] of Object.entries(damages))
    it(`verifyStore finds ${what}`, () => {
      damage();
      const error = verify();
      expect(error).to.be.instanceOf(StoreDamaged);
      expect(error).to.have.property('message').that.matches(expected);
    });
});
