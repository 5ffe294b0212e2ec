import { expect } from 'chai';
import { pino } from 'pino';
import { startHealthServer } from './health-server.ts';
import { createRegistry, addGauge, booleanReading } from './metrics.ts';

const log = pino({ level: 'silent' });
const metrics = createRegistry();

describe('Health server', () => {
  it('reports liveness and the current readiness', async () => {
    let ready = false;
    const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => ready, metrics, log });
    try {
      const status = async (path: string) => (await fetch(`http://${health.address}${path}`)).status;
      expect(await status('/livez')).to.equal(200);
      expect(await status('/readyz')).to.equal(503);
      ready = true;
      expect(await status('/readyz?verbose')).to.equal(200);
      expect(await status('/')).to.equal(404);
    } finally {
      await health.close();
    }
  });

  it('serves the metrics', async () => {
    const counted = createRegistry();
    addGauge(counted, { name: 'here', help: 'Whether it is here.', read: () => booleanReading(true) });
    const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics: counted, log });
    try {
      const response = await fetch(`http://${health.address}/metrics`);
      expect(response.headers.get('content-type')).to.contain('text/plain; version=0.0.4');
      expect(await response.text()).to.match(/^here 1$/m);
    } finally {
      await health.close();
    }
  });

  it('reports the reason when it is not ready', async () => {
    let ready: boolean | string = 'no reply from the allocator yet';
    const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => ready, metrics, log });
    const answer = async () => {
      const response = await fetch(`http://${health.address}/readyz`);
      return [response.status, await response.text()];
    };
    try {
      expect(await answer()).to.deep.equal([503, 'not ready: no reply from the allocator yet\n']);
      ready = false;
      expect(await answer()).to.deep.equal([503, 'not ready\n']);
      ready = true;
      expect(await answer()).to.deep.equal([200, 'ok\n']);
    } finally {
      await health.close();
    }
  });

  it('rejects an invalid address with a message', async () => {
    for (const listen of ['', '8081', 'localhost', '::1:80', '127.0.0.1:99999']) {
      const error: unknown = await startHealthServer({ listen, ready: () => true, metrics, log }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(Error).with.property('message').that.contains('use host:port');
    }
  });

  it('fails when the port is in use', async () => {
    const first = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics, log });
    try {
      const error: unknown = await startHealthServer({ listen: first.address, ready: () => true, metrics, log }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.have.property('code', 'EADDRINUSE');
    } finally {
      await first.close();
    }
  });
});
