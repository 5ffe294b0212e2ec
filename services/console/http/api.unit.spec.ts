import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { sessionCookie } from '../session/cookie.ts';
import { Sessions } from '../session/sessions.ts';
import { createApi } from './api.ts';
import { Query } from './query.ts';

describe('The requests below /api/v1', () => {
  it('The requests below /api/v1 hold the slot of a person until the browser has read the reply', async () => {
    const sessions = new Sessions({
      connect: () => ({ ...fakeLedgerClient({}), close: () => undefined }),
      verify: async () => 'alice',
    });
    const { id } = await sessions.create('token');
    const started = new EventTarget();
    let count = 0;
    const view = async () => {
      count++;
      started.dispatchEvent(new Event(`view ${count}`));
      return { body: {} };
    };
    const api = createApi({
      sessions,
      views: { '/view': view },
      actions: {},
      stream: () => undefined,
      isSecure: false,
    });
    const sixth = once(started, 'view 6');
    const calls = Array.from({ length: 8 }, () => {
      const request = new IncomingMessage(new Socket());
      Object.assign(request, { method: 'GET', headers: { cookie: sessionCookie(id, false).split(';')[0] } });
      const response = new ServerResponse(request); // without a connection, so nothing is read
      return { response, done: api(request, response, '/view', new Query(new URLSearchParams())) };
    });
    await sixth;
    await setImmediate(); // all six replies are written
    expect(calls.filter(({ response }) => response.writableEnded)).to.have.length(6);
    expect(count).to.equal(6);
    const seventh = once(started, 'view 7');
    calls[0]?.response.emit('close');
    await Promise.all([seventh, calls[0]?.done]);
    expect(count).to.equal(7);
    for (const { response, done } of calls.slice(1)) {
      await setImmediate();
      response.emit('close');
      await done;
    }
    expect(count).to.equal(8);
  });
});
