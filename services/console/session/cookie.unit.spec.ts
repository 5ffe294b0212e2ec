import { expect } from 'chai';
import { sessionCookie, sessionIdIn } from './cookie.ts';

describe('The cookie of a session', () => {
  it('The cookie of a session is read back, also among other cookies', () => {
    const [cookie = ''] = sessionCookie('id-1', true).split(';');
    expect(sessionIdIn({ cookie: `a=b; ${cookie}; c=d` }, true)).to.equal('id-1');
  });

  it('The cookie of a session has another name than without TLS, where any host of the network can set a cookie', () => {
    const [cookie = ''] = sessionCookie('id-1', false).split(';');
    expect([sessionIdIn({ cookie }, true), sessionIdIn({ cookie }, false)]).to.deep.equal(['', 'id-1']);
  });

  it('The cookie of a session is ignored if two cookies have its name', () => {
    const [cookie = ''] = sessionCookie('id-1', true).split(';');
    expect(sessionIdIn({ cookie: `${cookie}; ${cookie}2` }, true)).to.equal('');
    expect(sessionIdIn({}, true)).to.equal('');
  });

  it('The cookie of a session ends in the browser with the session', () => {
    expect(sessionCookie('', true)).to.match(/=; .*Max-Age=0$/);
  });
});
