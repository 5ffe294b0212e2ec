import { expect } from 'chai';
import { statusDetails } from './call-status.ts';

describe('The text of a status', () => {
  it('The text of a status is the message, if it is short', () => {
    expect(statusDetails('no such Pod 😀', 100)).to.equal('no such Pod 😀');
  });

  it('a status text can be sent even if a cut or the request leaves half a character', () => {
    for (const message of ['x😀😀', 'xx😀😀', '\ud83d alone'])
      expect(() => encodeURI(statusDetails(message, 4)), message).not.to.throw();
    expect(statusDetails('x😀😀', 4)).to.equal('x😀\ufffd … (shortened)');
  });
});
