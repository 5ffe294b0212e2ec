import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { silentLogger } from '../../testing/fakes.ts';
import { connectApi } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { Informer } from '../../../../lib/kubernetes/client/informer.ts';
import { pods } from '../objects/pod.ts';

describe('List of large objects', () => {
  const stop = new AbortController();
  const requests: (string | null)[][] = [];
  /** Serves two Pods, of which the second makes larger pages exceed the size limit. */
  const server = http.createServer((request, response) => {
    const { searchParams: query } = new URL(request.url ?? '', 'http://server');
    if (query.has('sendInitialEvents')) return void response.writeHead(422).end();
    if (query.has('watch')) return response.flushHeaders();
    requests.push([query.get('limit'), query.get('continue')]);
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

  it('WB-386 a list continues with smaller pages when a page is over the size limit', async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const config = new KubeConfig();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u', token: 't' });
    const informer = new Informer(connectApi(config), pods, silentLogger, { pageSize: 8 });
    const listed = new Promise<void>((resolve) =>
      informer.subscribe(({ kind }) => (kind === 'listed' ? resolve() : undefined)),
    );
    void informer.run(stop.signal);
    await listed;
    expect([...informer.objects.keys()]).to.deep.equal(['default/a', 'default/b']);
    expect(requests).to.deep.equal([
      ['8', null],
      ['8', 'more'],
      ['4', 'more'],
      ['2', 'more'],
    ]);
  });
});
