import { expect } from 'chai';
import { awayReason, connection, csvUrl, forget, request, RequestError } from './client.ts';

describe('The requests of the console', () => {
  const original = globalThis.fetch;
  /** The next replies by address: a status, or an error of the network. */
  const serve = (replies: Readonly<Record<string, number | Error>>): void => {
    globalThis.fetch = (url) => {
      const reply = replies[url as string] ?? 404;
      if (reply instanceof Error) return Promise.reject(reply);
      const body = reply === 200 ? {} : { code: 'UNAVAILABLE', message: `status ${reply}` };
      return Promise.resolve(new Response(JSON.stringify(body), { status: reply }));
    };
  };
  const codeOf = (url: string): Promise<string> =>
    request(url).then(
      () => '',
      (error: unknown) => (error instanceof RequestError ? error.code : String(error)),
    );
  beforeEach(() => connection.set('connected'));
  afterEach(() => {
    globalThis.fetch = original;
    for (const url of ['/a', '/b']) forget(url);
  });

  it('The requests of the console show that a part is away until it answers, also while another part answers', async () => {
    serve({ '/a': 503, '/b': 200 });
    await codeOf('/a');
    await codeOf('/b');
    expect([connection.value, awayReason.value]).to.deep.equal(['away', 'status 503']);
    serve({ '/a': 200 });
    await codeOf('/a');
    expect(connection.value).to.equal('connected');
  });

  it('The requests of the console do not wait for a part of a view that was left', async () => {
    serve({ '/a': new TypeError('Failed to fetch') });
    expect(await codeOf('/a')).to.equal('UNREACHABLE');
    expect(connection.value).to.equal('away');
    forget('/a');
    expect(connection.value).to.equal('connected');
  });

  it('The requests of the console end the session at a reply 401, and show no part as away', async () => {
    serve({ '/a': 401, '/b': 503 });
    await codeOf('/a');
    await codeOf('/b');
    expect(connection.value).to.equal('signed out');
  });

  it('The requests of the console report a rejected request with the message of the server', async () => {
    serve({ '/a': 409 });
    expect(await request('/a').catch((error: unknown) => (error as Error).message)).to.equal('status 409');
    expect(connection.value).to.equal('connected');
  });

  it('The requests of the console have an address for the same data as CSV', () => {
    expect(['/a', '/a?b=c'].map(csvUrl)).to.deep.equal(['/a?format=csv', '/a?b=c&format=csv']);
  });
});
