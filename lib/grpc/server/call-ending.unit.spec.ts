import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { CallEnding } from './call-context.ts';

/** A call as in grpc-js: the property changes before the event is emitted. */
class FakeCall extends EventEmitter {
  cancelled = false;

  cancel(): void {
    this.cancelled = true;
    this.emit('cancelled');
  }
}

describe('CallEnding', () => {
  it('CallEnding aborts its signal with CANCELLED when the call ends', () => {
    const call = new FakeCall();
    const ending = new CallEnding(call);
    const { signal } = ending;
    expect([ending.aborted, signal.aborted]).to.deep.equal([false, false]);
    call.cancel();
    expect([ending.aborted, signal.aborted]).to.deep.equal([true, true]);
    expect(signal.reason).to.have.property('code', 'CANCELLED');
    expect(ending.signal).to.equal(signal);
  });

  it('CallEnding has an aborted signal when the signal is read after the end', () => {
    const call = new FakeCall();
    const ending = new CallEnding(call);
    call.cancel();
    expect(ending.aborted).to.be.true;
    expect(ending.signal.reason).to.have.property('code', 'CANCELLED');
  });

  it('CallEnding listens for the end only after the signal is read', () => {
    const call = new FakeCall();
    const ending = new CallEnding(call);
    expect([ending.aborted, call.listenerCount('cancelled')]).to.deep.equal([false, 0]);
    void ending.signal;
    expect(call.listenerCount('cancelled')).to.equal(1);
  });
});
