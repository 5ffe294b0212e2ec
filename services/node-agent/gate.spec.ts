import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { createGate } from './gate.ts';
import { never, refusal } from './fakes.ts';

/** Work that ends when it is told to. */
function works() {
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

describe('a gate', () => {
  it('lets some in at a time, the others as these leave, in the order of asking', async () => {
    const gate = createGate(2, 10);
    const { begun, end, work } = works();
    const all = [0, 1, 2, 3].map((number) => gate(never(), work(number)));
    expect(begun).to.deep.equal([0, 1]);
    await end(1);
    expect(begun).to.deep.equal([0, 1, 2]);
    await end(0);
    expect(begun).to.deep.equal([0, 1, 2, 3]);
    await end(2);
    await end(3);
    expect(await Promise.all(all)).to.deep.equal([0, 1, 2, 3]);
  });

  it('lets nobody in between who leaves and who is called', async () => {
    const gate = createGate(1, 10);
    const { begun, end, work } = works();
    const first = gate(never(), work(0)).then(() => gate(never(), work(2)));
    void gate(never(), work(1));
    await end(0);
    expect(begun).to.deep.equal([0, 1]);
    await end(1);
    expect(begun).to.deep.equal([0, 1, 2]);
    await end(2);
    await first;
  });

  it('passes on the place of work that fails', async () => {
    const gate = createGate(1, 10);
    const failed = refusal(gate(never(), () => Promise.reject(new IpledgerError('SANDBOX_FAILED', 'no'))));
    expect(await gate(never(), () => Promise.resolve('in'))).to.equal('in');
    expect((await failed).message).to.equal('no');
  });

  it('is left by a caller that is gone, who keeps nobody out', async () => {
    const gate = createGate(1, 10);
    const { begun, end, work } = works();
    const caller = new AbortController();
    const first = gate(never(), work(0));
    const gone = refusal(gate(caller.signal, work(1)));
    const last = gate(never(), work(2));
    caller.abort();
    expect((await gone).code).to.equal('CANCELLED');
    expect((await refusal(gate(caller.signal, work(3)))).code).to.equal('CANCELLED');
    await end(0);
    expect(begun).to.deep.equal([0, 2]);
    await end(2);
    await Promise.all([first, last]);
    expect(await gate(never(), () => Promise.resolve('free'))).to.equal('free');
  });

  it('has a longest line', async () => {
    const gate = createGate(1, 1);
    const { end, work } = works();
    const two = [gate(never(), work(0)), gate(never(), work(1))];
    expect((await refusal(gate(never(), work(2)))).code).to.equal('OVERLOADED');
    await end(0);
    await end(1);
    await Promise.all(two);
  });
});
