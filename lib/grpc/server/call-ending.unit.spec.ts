import { expect } from 'chai';
import { CallEnding } from './call-ending.ts';

describe('CallEnding', () => {
  it('aborts its signal with CANCELLED when the call ends', () => {
    const ending = new CallEnding();
    const { signal } = ending;
    expect([ending.aborted, signal.aborted]).to.deep.equal([false, false]);
    ending.end();
    expect([ending.aborted, signal.aborted]).to.deep.equal([true, true]);
    expect(signal.reason).to.have.property('code', 'CANCELLED');
  });

  it('has an aborted signal when the signal is read after the end', () => {
    const ending = new CallEnding();
    ending.end();
    expect(ending.signal.reason).to.have.property('code', 'CANCELLED');
  });
});
