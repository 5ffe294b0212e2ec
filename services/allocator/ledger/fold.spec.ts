import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describeState } from '../domain/describe.ts';
import { allocate, allocateAll } from '../domain/specification.ts';
import type { StoredEvent } from './chain.ts';
import { beginning, fold, type Until } from './fold.ts';
import { logKey } from './keys.ts';
import { MemoryLedger } from './memory.ts';
import {
  ask,
  bind,
  carryOut,
  createLedger,
  describeFold,
  failureOf,
  inSmall,
  logOf,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from './specification.ts';

const patience = { signal: never };

describe('A fold of the log', () => {
  let ledger: MemoryLedger;
  let log: StoredEvent[];

  const folded = (until: Until) => fold(ledger, beginning(), until, patience);
  const prefix = (seq: number) => log.slice(0, seq);

  beforeEach(async () => {
    ledger = new MemoryLedger({ ops: 128, bytes: 1 << 20 }, 5);
    const { writer, stop } = await startWriter(ledger);
    await carryOut(writer, createLedger(), macvlan, small);
    // A command of several events is one Pod with several attachments
    const pair = allocateAll('pair', [{}, inSmall]);
    await carryOut(
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

  it('is the state at each event, when the log is read up to there', async () => {
    for (const { envelope } of log) {
      const { seq, part } = envelope;
      const whole = seq + part[1] - part[0];
      const { state, head } = await folded({ seq });
      expect(head).to.include({ seq: whole, hash: log[whole - 1]?.hash });
      expect(describeState(state), `at ${seq}`).to.deep.equal(describeFold(prefix(whole)));
    }
    expect(log.some(({ envelope }) => envelope.part[1] > 1)).to.equal(true);
  });

  it('is the state at an instant, with all that happened up to it', async () => {
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

  it('goes on from where another one ended', async () => {
    const there = await folded({ seq: 4 });
    const { state, head } = await fold(ledger, there, 'end', patience);
    expect(head.seq).to.equal(log.length);
    expect(describeState(state)).to.deep.equal(describeFold(log));
  });

  it('shows each command with the state before it', async () => {
    const seen: [number, number][] = [];
    const place = beginning();
    const before = (events: readonly StoredEvent[]) => void seen.push([events.length, place.state.subnets.size]);
    await fold(ledger, place, 'end', { signal: never, before });
    expect(seen.slice(0, 4)).to.deep.equal([
      [1, 0],
      [1, 0],
      [1, 1],
      [2, 2],
    ]);
  });

  it('refuses an event beyond the log', async () => {
    const error = await failureOf(folded({ seq: log.length + 1 }));
    expect(error).to.include({
      code: 'POSITION_GONE',
      message: `event ${log.length + 1} is beyond the ledger, whose last event is ${log.length}`,
    });
  });

  it('stops at what is no log', async () => {
    const lastLine = log.at(-1)?.text ?? '';
    ledger.put(logKey(log.length), lastLine.replace(/"prev":"[0-9a-f]{4}/, '"prev":"dead'));
    expect(await failureOf(folded('end'))).to.have.property('code', 'LEDGER_DAMAGED');
    ledger.put(logKey(log.length), lastLine);
    ledger.remove(logKey(3));
    expect((await failureOf(folded('end'))).message).to.equal('the log is not dense: event 4 follows 2');
  });

  it('stops at a command that the log does not hold whole', async () => {
    const cut = log.findIndex(({ envelope }) => envelope.part[0] < envelope.part[1]) + 1;
    for (const { envelope } of log.slice(cut)) ledger.remove(logKey(envelope.seq));
    expect((await failureOf(folded('end'))).message).to.equal(`the log ends inside the command of event ${cut}`);
  });

  it('lets everybody else have a turn, however long the log and its pages', async () => {
    const { writer, stop } = await startWriter(ledger);
    for (let pod = 0; pod < 600; pod++) void writer.submit(ask(allocate(`many-${pod}`)));
    await carryOut(writer, allocate('last'));
    await stop();
    const onePage = new MemoryLedger(ledger.limits, 10_000);
    for (const { envelope, text } of await logOf(ledger)) onePage.put(logKey(envelope.seq), text);
    let turns = 0;
    const done = new AbortController();
    const others = (async () => {
      for (; !done.signal.aborted; turns++) await setImmediate();
    })();
    await fold(onePage, beginning(), 'end', patience);
    done.abort();
    await others;
    expect(turns).to.be.at.least(3);
  });

  it('ends with its signal', async () => {
    const leaving = new AbortController();
    leaving.abort();
    const error = await failureOf(fold(ledger, beginning(), 'end', { signal: leaving.signal }));
    expect(error).to.have.property('name', 'AbortError');
  });
});
