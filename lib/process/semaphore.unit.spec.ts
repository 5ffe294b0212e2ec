import { expect } from 'chai';
import { IpledgerError } from '../errors.ts';
import { createSemaphore } from './semaphore.ts';
import { neverAborted, rejectionOf } from './testing/awaited-work.ts';

/** Numbered work. Each ends when `end` is called with its number. */
function controlledWork() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (number: number) => async (): Promise<number> => {
    begun.push(number);
    await new Promise<void>((resolve) => (ends[number] = resolve));
    return number;
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { begun, end: (number: number) => (ends[number]?.(), settled()), work, settled };
}

describe('Semaphore', () => {
  it('Semaphore runs as much work as it has slots, and the rest in order of arrival', async () => {
    const semaphore = createSemaphore(2, 10);
    const { begun, end, work } = controlledWork();
    const all = [0, 1, 2, 3].map((number) => semaphore(neverAborted(), work(number)));
    expect(begun).to.deep.equal([0, 1]);
    await end(1);
    expect(begun).to.deep.equal([0, 1, 2]);
    await end(0);
    expect(begun).to.deep.equal([0, 1, 2, 3]);
    await end(2);
    await end(3);
    expect(await Promise.all(all)).to.deep.equal([0, 1, 2, 3]);
  });

  it('Semaphore gives a free slot to waiting work before new work', async () => {
    const semaphore = createSemaphore(1, 10);
    const { begun, end, work } = controlledWork();
    const first = semaphore(neverAborted(), work(0)).then(() => semaphore(neverAborted(), work(2)));
    void semaphore(neverAborted(), work(1));
    await end(0);
    expect(begun).to.deep.equal([0, 1]);
    await end(1);
    expect(begun).to.deep.equal([0, 1, 2]);
    await end(2);
    await first;
  });

  it('Semaphore frees the slot of work that fails', async () => {
    const semaphore = createSemaphore(1, 10);
    const failed = rejectionOf(
      semaphore(neverAborted(), () => Promise.reject(new IpledgerError('SANDBOX_FAILED', 'no'))),
    );
    expect(await semaphore(neverAborted(), () => Promise.resolve('done'))).to.equal('done');
    expect((await failed).message).to.equal('no');
  });

  it('Semaphore skips work whose caller disconnected', async () => {
    const semaphore = createSemaphore(1, 10);
    const { begun, end, work } = controlledWork();
    const caller = new AbortController();
    const first = semaphore(neverAborted(), work(0));
    const aborted = rejectionOf(semaphore(caller.signal, work(1)));
    const last = semaphore(neverAborted(), work(2));
    caller.abort();
    expect((await aborted).code).to.equal('CANCELLED');
    expect((await rejectionOf(semaphore(caller.signal, work(3)))).code).to.equal('CANCELLED');
    await end(0);
    expect(begun).to.deep.equal([0, 2]);
    await end(2);
    await Promise.all([first, last]);
    expect(await semaphore(neverAborted(), () => Promise.resolve('free'))).to.equal('free');
  });

  it('Semaphore rejects work when its queue is full', async () => {
    const semaphore = createSemaphore(1, 1);
    const { end, work } = controlledWork();
    const two = [semaphore(neverAborted(), work(0)), semaphore(neverAborted(), work(1))];
    expect((await rejectionOf(semaphore(neverAborted(), work(2)))).code).to.equal('OVERLOADED');
    await end(0);
    await end(1);
    await Promise.all(two);
  });
});
