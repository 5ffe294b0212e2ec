import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import { allocate, allocateAll } from '../../domain/testing/event-fixtures.ts';
import type { StoredEvent } from '../chain/chain.ts';
import { applyCommand, initialStateAtHead, fold, type FoldEnd } from './fold.ts';
import { logKey } from '../store/keys.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import {
  requestFor,
  bind,
  submitAll,
  createLedger,
  describeFold,
  failureOf,
  smallAttachment,
  logOf,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from '../testing/running-writer.ts';

const options = { signal: never };

describe('fold', () => {
  let ledger: MemoryLedger;
  let log: StoredEvent[];

  const folded = (until: FoldEnd) => fold(ledger, initialStateAtHead(), until, options);
  const prefix = (seq: number) => log.slice(0, seq);

  beforeEach(async () => {
    ledger = new MemoryLedger({ ops: 128, bytes: 1 << 20 }, 5);
    const { writer, stop } = await startWriter(ledger);
    await submitAll(writer, createLedger(), macvlan, small);
    // A command with several events: one Pod with several attachments.
    const pair = allocateAll('pair', [{}, smallAttachment]);
    await submitAll(
      writer,
      pair,
      bind('pair'),
      allocate('a'),
      unbind('pair'),
      release('pair'),
      allocate('b'),
      release('a'),
    );
    await stop();
    log = await logOf(ledger);
  });

  it('fold returns the state at each event', async () => {
    for (const { envelope } of log) {
      const { seq, part } = envelope;
      const commandEnd = seq + part[1] - part[0];
      const { state, head } = await folded({ seq });
      expect(head).to.include({ seq: commandEnd, hash: log[commandEnd - 1]?.hash });
      expect(describeState(state), `at ${seq}`).to.deep.equal(describeFold(prefix(commandEnd)));
    }
    expect(log.some(({ envelope }) => envelope.part[1] > 1)).to.equal(true);
  });

  it('fold returns the state at a time, with all events up to it', async () => {
    for (const { sequenced } of log) {
      const upTo = log.filter((other) => other.sequenced.at <= sequenced.at).length;
      const { state, head } = await folded({ at: sequenced.at });
      expect(head.seq).to.equal(upTo);
      expect(describeState(state)).to.deep.equal(describeFold(prefix(upTo)));
    }
    const [first] = log;
    expect((await folded({ at: (first?.sequenced.at ?? 0) - 1 })).head.seq).to.equal(0);
    expect((await folded({ at: Date.now() + 1_000 })).head.seq).to.equal(log.length);
  });

  it('fold continues from the result of an earlier fold', async () => {
    const atFour = await folded({ seq: 4 });
    const { state, head } = await fold(ledger, atFour, 'end', options);
    expect(head.seq).to.equal(log.length);
    expect(describeState(state)).to.deep.equal(describeFold(log));
  });

  it('onCommand receives each command with the state before it', async () => {
    const seen: [number, number][] = [];
    const place = initialStateAtHead();
    const before = (events: readonly StoredEvent[]) => void seen.push([events.length, place.state.subnets.size]);
    await fold(ledger, place, 'end', { signal: never, onCommand: before });
    expect(seen.slice(0, 4)).to.deep.equal([
      [1, 0],
      [1, 0],
      [1, 1],
      [2, 2],
    ]);
  });

  it('applyCommand shows each event with the state before it, and with the previous event of its command', () => {
    const at = initialStateAtHead();
    const seen: [seq: number, head: number, previous: number | undefined][] = [];
    let [head, command]: [typeof at.head, StoredEvent[]] = [at.head, []];
    for (const event of prefix(6)) {
      command.push(event);
      if (event.envelope.part[0] < event.envelope.part[1]) continue;
      head = applyCommand({ ...at, head }, command, (past, { envelope }) => {
        seen.push([envelope.seq, past.head.seq, past.openCommand?.seq]);
      });
      command = [];
    }
    expect(seen).to.deep.equal([
      [1, 0, undefined],
      [2, 1, undefined],
      [3, 2, undefined],
      [4, 3, undefined],
      [5, 4, 4],
      [6, 5, undefined],
    ]);
  });

  it('fold rejects an event beyond the log', async () => {
    const error = await failureOf(folded({ seq: log.length + 1 }));
    expect(error).to.include({
      code: 'POSITION_GONE',
      message: `event ${log.length + 1} is beyond the ledger, whose last event is ${log.length}`,
    });
  });

  it('fold rejects lines that are not a log', async () => {
    const lastLine = log.at(-1)?.text ?? '';
    ledger.put(logKey(log.length), lastLine.replace(/"prev":"[0-9a-f]{4}/, '"prev":"dead'));
    expect(await failureOf(folded('end'))).to.have.property('code', 'LEDGER_DAMAGED');
    ledger.put(logKey(log.length), lastLine);
    ledger.remove(logKey(3));
    expect((await failureOf(folded('end'))).message).to.equal('the log has a gap: event 4 follows event 2');
  });

  it('fold rejects a log that ends inside a command', async () => {
    const cut = log.findIndex(({ envelope }) => envelope.part[0] < envelope.part[1]) + 1;
    for (const { envelope } of log.slice(cut)) ledger.remove(logKey(envelope.seq));
    expect((await failureOf(folded('end'))).message).to.equal(`the log ends inside the command of event ${cut}`);
  });

  it('fold yields to the event loop for any length of the log and of its pages', async () => {
    const { writer, stop } = await startWriter(ledger);
    for (let pod = 0; pod < 600; pod++) void writer.submit(requestFor(allocate(`many-${pod}`)));
    await submitAll(writer, allocate('last'));
    await stop();
    const onePage = new MemoryLedger(ledger.limits, 10_000);
    for (const { envelope, text } of await logOf(ledger)) onePage.put(logKey(envelope.seq), text);
    let turns = 0;
    const done = new AbortController();
    const others = (async () => {
      for (; !done.signal.aborted; turns++) await setImmediate();
    })();
    const appliedIn = new Map<number, number>();
    const onCommand = (): void => void appliedIn.set(turns, (appliedIn.get(turns) ?? 0) + 1);
    // Each read of the clock advances it by a millisecond, and a turn has three of them.
    const now = performance.now.bind(performance);
    let ms = 0;
    performance.now = () => ms++;
    try {
      await fold(onePage, initialStateAtHead(), 'end', { signal: never, onCommand });
    } finally {
      performance.now = now;
    }
    done.abort();
    await others;
    expect(Math.max(...appliedIn.values())).to.equal(3);
  });

  it('fold ends between two events of a page when its signal is aborted', async () => {
    const leaving = new AbortController();
    const now = performance.now.bind(performance);
    let ms = 0;
    performance.now = () => ms++;
    let commands = 0;
    const onCommand = (): void => void (++commands === 1 && leaving.abort());
    const onePage = new MemoryLedger(ledger.limits, 10_000);
    for (const { envelope, text } of log) onePage.put(logKey(envelope.seq), text);
    const folding = fold(onePage, initialStateAtHead(), 'end', { signal: leaving.signal, onCommand });
    const error = await failureOf(folding).finally(() => (performance.now = now));
    expect(error).to.have.property('name', 'AbortError');
    expect(commands).to.equal(2);
  });

  it('applyCommand leaves the state as it was when the second event of a command does not follow the chain', () => {
    const at = initialStateAtHead();
    let { head } = at;
    for (const event of prefix(3)) head = applyCommand({ ...at, head }, [event]);
    const [first, second] = log.slice(3, 5) as [StoredEvent, StoredEvent];
    const forged = { ...second, envelope: { ...second.envelope, prev: 'of another event' } };
    expect(() => applyCommand({ ...at, head }, [first, forged])).to.throw('event 5');
    expect(describeState(at.state)).to.deep.equal(describeFold(prefix(3)));
  });

  it('fold ends when its signal is aborted', async () => {
    const leaving = new AbortController();
    leaving.abort();
    const error = await failureOf(fold(ledger, initialStateAtHead(), 'end', { signal: leaving.signal }));
    expect(error).to.have.property('name', 'AbortError');
  });
});
