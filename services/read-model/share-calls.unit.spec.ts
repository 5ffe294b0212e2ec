import { expect } from 'chai';
import { shareCalls } from './ledger-service.ts';

describe('shareCalls', () => {
  it('shareCalls answers all requests that arrive during a call with one next call, never with the running one', async () => {
    const calls: PromiseWithResolvers<number>[] = [];
    const read = shareCalls(() => {
      const call = Promise.withResolvers<number>();
      calls.push(call);
      return call.promise;
    });
    const [first, second, third] = [read(), read(), read()];
    expect(calls).to.have.length(1);
    calls[0]?.resolve(1);
    expect(await first).to.equal(1);
    await new Promise(setImmediate);
    expect(calls).to.have.length(2);
    const fourth = read();
    calls[1]?.resolve(2);
    expect(await Promise.all([second, third])).to.deep.equal([2, 2]);
    await new Promise(setImmediate);
    calls[2]?.resolve(3);
    expect(await fourth).to.equal(3);
  });

  it('shareCalls begins the next call after a call failed', async () => {
    let count = 0;
    const read = shareCalls(() => (++count === 1 ? Promise.reject(new Error('away')) : Promise.resolve(count)));
    const [first, second] = [read(), read()];
    expect(await first.catch((error: unknown) => error)).to.have.property('message', 'away');
    expect(await second).to.equal(2);
  });
});
