import { expect } from 'chai';
import { failureOf, never } from '../../../ledger/log/testing/running-writer.ts';
import { ReaderLimits } from './reader-limits.ts';

describe('The read limits of a viewer', () => {
  const viewer = { actor: 'ipledger://viewer', signal: never };
  let now: number;
  let limits: ReaderLimits;
  beforeEach(() => {
    now = 0;
    const pause = (ms: number): Promise<void> => {
      now += ms;
      return Promise.resolve();
    };
    limits = new ReaderLimits({ now: () => now, pause });
  });

  const readPages = (count: number, reader = viewer): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, () => limits.list(reader, () => Promise.resolve(250), Number)));

  it('The read limits of a viewer read 50,000 claims at once, and then 10,000 claims per second', async () => {
    await readPages(200);
    expect(now).to.be.at.most(1);
    await readPages(400);
    expect(now).to.be.within(9_900, 10_100);
  });

  it('The read limits of a viewer do not delay the lists of other users', async () => {
    await readPages(1_000);
    const before = now;
    await readPages(10, { actor: 'kubernetes:anna', signal: never });
    expect(now).to.equal(before);
  });

  it('a list whose caller has left does not run, and leaves its turn to the next one', async () => {
    await readPages(201);
    const leaving = new AbortController();
    const ran: string[] = [];
    const list = (name: string, signal: AbortSignal): Promise<number> =>
      limits.list({ ...viewer, signal }, () => Promise.resolve(ran.push(name)), Number);
    const [left, next] = [list('left', leaving.signal), list('next', never)];
    leaving.abort();
    expect(await failureOf(left)).to.have.property('code', 'CANCELLED');
    await next;
    expect(ran).to.deep.equal(['next']);
  });

  it('The read limits of a viewer admit 1,000 calls at once and 100 per second, of each identity', () => {
    const countCalls = (actor: string, count: number): number => {
      let taken = 0;
      for (let sent = 0; sent < count; sent++)
        try {
          limits.takeCall(actor);
          taken++;
        } catch (error) {
          expect(error).to.include({ code: 'RATE_LIMITED', kind: 'transient' });
        }
      return taken;
    };
    expect(countCalls('ipledger://viewer', 1_200)).to.equal(1_000);
    now += 1_000;
    expect(countCalls('ipledger://viewer', 1_200)).to.equal(100);
    expect(countCalls('kubernetes:anna', 1_200)).to.equal(1_000);
  });
});
