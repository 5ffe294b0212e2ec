import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { allocate } from '../domain/specification.ts';
import { emptyHead, chain, parseEvent } from '../ledger/chain.ts';
import { Follower } from '../ledger/follower.ts';
import { headKey, headText, logKey, parseHead } from '../ledger/keys.ts';
import { MemoryLedger } from '../ledger/memory.ts';
import { Replica } from '../ledger/replica.ts';
import {
  bind,
  carryOut,
  createLedger,
  macvlan,
  never,
  newId,
  release,
  silent,
  startWriter,
  unbind,
  type Working,
} from '../ledger/specification.ts';
import { Patrol } from './patrol.ts';

const claim = '/ipledger/v1/addr/macvlan/172.17.0.11';

describe('A standby on patrol', () => {
  let memory: MemoryLedger;
  let working: Working;
  let patrol: Patrol;
  let over: AbortController;
  let ended: Promise<unknown>;
  let logged: string[];
  beforeEach(async () => {
    memory = new MemoryLedger(undefined, 2);
    working = await startWriter(memory);
    await carryOut(working.writer, createLedger(), macvlan, allocate('a'), allocate('b'));
    over = new AbortController();
    logged = [];
  });
  afterEach(async () => {
    over.abort();
    await working.stop();
    await ended;
  });

  /** Stands by, and goes round as fast as it can. */
  async function standBy(): Promise<void> {
    const replica = await Replica.load(memory, never);
    const follower = new Follower(replica, silent);
    const log = pino({}, { write: (line: string) => logged.push(line) });
    patrol = new Patrol({ replica, follower: () => follower, log, betweenPagesMs: 1 });
    ended = Promise.all([follower.run(over.signal), patrol.run(over.signal)]);
    await eventually(() => expect(logged.join('')).to.contain('the ledger is verified'));
  }

  const found = (): string[] => patrol.findings.map(({ key, what }) => `${key}: ${what}`);

  async function eventually(look: () => void): Promise<void> {
    for (const deadline = Date.now() + 10_000; ;) {
      try {
        return look();
      } catch (error) {
        if (Date.now() > deadline) throw error;
      }
      await sleep(5);
    }
  }

  it('accuses nobody while others write', async () => {
    await standBy();
    for (let round = 0; round < 30; round++) {
      await carryOut(
        working.writer,
        allocate(`c${round}`),
        bind(`c${round}`),
        release(`c${round}`),
        unbind(`c${round}`),
      );
      await sleep(3);
    }
    expect(found()).to.deep.equal([]);
  });

  it('finds a key that is edited while it looks, and is content when it is put back', async () => {
    await standBy();
    const text = memory.get(claim) ?? '';
    memory.put(claim, text.replace('uid-a', 'uid-x'));
    await eventually(() =>
      expect(found()).to.deep.equal([`${claim}: holder.uid is "uid-x", by the log it is "uid-a"`]),
    );
    expect(logged.join('')).to.contain('the ledger is not as it was written');
    memory.put(claim, text);
    await eventually(() => expect(found()).to.deep.equal([]));
  });

  it('finds a key that is deleted, and one that nobody of ours put there', async () => {
    await standBy();
    memory.remove(claim);
    memory.put('/ipledger/v1/note', 'hello');
    await eventually(() => expect(found()).to.have.length(2));
    expect(found().join()).to.match(
      /172\.17\.0\.11: it is missing.*note: ipledger has no such key|note: .*172\.17\.0\.11: it is/,
    );
  });

  it('says once that it cannot look, and why', async () => {
    const { keys } = memory;
    let tries = 0;
    memory.keys = async function* (...asked) {
      if (++tries > 3) memory.keys = keys;
      else throw new IpledgerError('UNAVAILABLE', 'the archive is not there');
      yield* keys.apply(memory, asked);
    };
    await standBy();
    const told = logged.filter((line) => line.includes('the keys cannot be verified now'));
    expect(told).to.have.length(1);
    expect(told[0]).to.contain('the archive is not there');
  });

  it('finds what was wrong before it came', async () => {
    memory.put(claim, (memory.get(claim) ?? '').replace('uid-a', 'uid-x'));
    await standBy();
    await eventually(() => expect(found()[0]).to.match(/holder\.uid is "uid-x"/));
  });

  it('finds an event that breaks a rule as it comes, and follows it all the same', async () => {
    await standBy();
    // Somebody writes an event that is chained as it should be, and gives b's address to another.
    const head = parseHead(memory.get(headKey) ?? '');
    const { sequenced } = parseEvent(memory.get(logKey(4)) ?? '');
    if (sequenced.type !== 'AddressAllocated') throw new Error(sequenced.type);
    const { data, subnet, type } = sequenced;
    const event = { type, subnet, data: { ...data, uid: 'uid-x', attachment: { ...data.attachment, pod: 'x' } } };
    const before = { [data.addresses[0]?.address ?? '']: 4 };
    const wrapping = {
      id: newId(),
      command: newId(),
      part: [1, 1],
      at: head.at,
      clock: head.at,
      actor: 'x',
      before,
    } as const;
    const next = chain(head.seq === 0 ? emptyHead : head, event, wrapping);
    memory.put(logKey(5), next.stored.text);
    memory.put(headKey, headText(next.head));
    await eventually(() =>
      expect(found().find((each) => each.includes('/log/'))).to.equal(
        `${logKey(5)}: event 5 gives 172.17.0.12 of subnet macvlan, which attachment macvlan.default/0 of Pod default/b has since event 4`,
      ),
    );
  });
});
