import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { ping } from './ping.ts';

describe('A ping from a Pod', () => {
  it('A ping from a Pod ends with its time, also while the API server does not answer the request for exec', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const config = new KubeConfig();
    config.loadFromClusterAndUser(
      { name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true },
      { name: 'u' },
    );
    const stop = new AbortController();
    try {
      const pinged = ping(config, { namespace: 'n', pod: 'p', address: '10.0.0.2' }, stop.signal);
      const [connection] = (await once(server, 'connection')) as [Socket];
      stop.abort();
      expect(await pinged).to.deep.equal({ result: 'not possible', detail: 'no result within 15 s' });
      connection.destroy();
    } finally {
      server.close();
    }
  });
});
