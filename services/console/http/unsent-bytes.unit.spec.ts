import { expect } from 'chai';
import { UnsentBytes } from './unsent-bytes.ts';

describe('UnsentBytes', () => {
  it('UnsentBytes rejects a reply beyond the maximum, until an earlier reply was read', () => {
    const unsent = new UnsentBytes(100);
    const [first, other] = [new AbortController(), new AbortController()];
    unsent.hold(90, first.signal);
    expect(() => unsent.hold(20, other.signal)).to.throw('have not been read');
    first.abort();
    unsent.hold(20, other.signal);
  });

  it('UnsentBytes permits a reply of any size if it is the only one', () => {
    new UnsentBytes(100).hold(1_000, new AbortController().signal);
  });

  it('UnsentBytes counts nothing for a browser that has gone', () => {
    const unsent = new UnsentBytes(100);
    unsent.hold(90, AbortSignal.abort());
    unsent.hold(90, new AbortController().signal);
    expect(() => unsent.hold(90, new AbortController().signal)).to.throw('have not been read');
  });
});
