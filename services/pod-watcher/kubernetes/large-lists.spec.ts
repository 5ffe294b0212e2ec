import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { silent } from '../fakes.ts';
import { connectApi } from './api.ts';
import { Source } from './list-watch.ts';
import { pods } from './objects.ts';

describe('a list of large objects', () => {
  const stop = new AbortController();
  const asked: (string | null)[][] = [];
  /** Two Pods: the second so large that pages of more than two are over the limit of an answer. */
  const server = http.createServer((request, response) => {
    const { searchParams: query } = new URL(request.url ?? '', 'http://server');
    if (query.has('watch')) return response.flushHeaders();
    asked.push([query.get('limit'), query.get('continue')]);
    const second = query.has('continue');
    if (second && Number(query.get('limit')) > 2) return void response.end(Buffer.alloc((64 << 20) + 1, ' '));
    const name = second ? 'b' : 'a';
    const item = { metadata: { name, namespace: 'default', uid: name, resourceVersion: '1' } };
    const metadata = { resourceVersion: '10', ...(!second && { continue: 'more' }) };
    response.end(JSON.stringify({ metadata, items: [item] }));
  });
  after(() => {
    stop.abort();
    server.closeAllConnections();
    server.close();
  });

  it('is read in smaller pages where an answer is over its limit, from where it is', async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const config = new KubeConfig();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u', token: 't' });
    const source = new Source(connectApi(config), pods, silent, { pageSize: 8 });
    const listed = new Promise<void>((resolve) =>
      source.subscribe(({ kind }) => (kind === 'listed' ? resolve() : undefined)),
    );
    void source.run(stop.signal);
    await listed;
    expect([...source.objects.keys()]).to.deep.equal(['default/a', 'default/b']);
    expect(asked).to.deep.equal([
      ['8', null],
      ['8', 'more'],
      ['4', 'more'],
      ['2', 'more'],
    ]);
  });
});
