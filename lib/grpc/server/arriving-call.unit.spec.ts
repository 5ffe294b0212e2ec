import { once } from 'node:events';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { ArrivingCall } from './arriving-call.ts';
import { ClientBudgets } from './client-budgets.ts';

describe('A refused call', () => {
  it('a refused call whose client has left is no longer counted, even after many refused calls', async () => {
    const budgets = new ClientBudgets();
    const client = budgets.of('10.0.0.1', 'others');
    // A time far in the future keeps the bucket empty, however long the test takes.
    while (client.refusals.take(performance.now() + 1e9));
    const session = { closed: true } as ServerHttp2Session;
    const connection = {
      client,
      budgets,
      session,
      isIdentified: true,
      identify: () => true,
      countHeaders: () => undefined,
    };
    const stream = new PassThrough();
    const call = new ArrivingCall(connection, stream as unknown as ServerHttp2Stream, {});
    const closed = once(stream, 'close');
    stream.destroy();
    await closed;
    call.sendRefusal(() => undefined);
    expect(client.uncounted).to.equal(0);
  });
});
