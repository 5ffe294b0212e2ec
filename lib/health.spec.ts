import { expect } from 'chai';
import { pino } from 'pino';
import { startHealth } from './health.ts';
import { createRegistry, gauge, yes } from './metrics.ts';

const log = pino({ level: 'silent' });
const metrics = createRegistry();

describe('health over HTTP', () => {
  it('tells alive from ready, and follows the readiness as it changes', async () => {
    let ready = false;
    const health = await startHealth({ listen: '127.0.0.1:0', ready: () => ready, metrics, log });
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

  it('serves what is counted', async () => {
    const counted = createRegistry();
    gauge(counted, { name: 'here', help: 'Whether it is here.', read: () => yes(true) });
    const health = await startHealth({ listen: '127.0.0.1:0', ready: () => true, metrics: counted, log });
    try {
      const response = await fetch(`http://${health.address}/metrics`);
      expect(response.headers.get('content-type')).to.contain('text/plain; version=0.0.4');
      expect(await response.text()).to.match(/^here 1$/m);
    } finally {
      await health.close();
    }
  });

  it('tells what is missing when it is asked for its readiness', async () => {
    let ready: boolean | string = 'nothing was heard from the allocator yet';
    const health = await startHealth({ listen: '127.0.0.1:0', ready: () => ready, metrics, log });
    const answer = async () => {
      const response = await fetch(`http://${health.address}/readyz`);
      return [response.status, await response.text()];
    };
    try {
      expect(await answer()).to.deep.equal([503, 'not ready: nothing was heard from the allocator yet\n']);
      ready = false;
      expect(await answer()).to.deep.equal([503, 'not ready\n']);
      ready = true;
      expect(await answer()).to.deep.equal([200, 'ok\n']);
    } finally {
      await health.close();
    }
  });

  it('refuses a malformed address with a sentence', async () => {
    for (const listen of ['', '8081', 'localhost', '::1:80', '127.0.0.1:99999']) {
      const error: unknown = await startHealth({ listen, ready: () => true, metrics, log }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(Error).with.property('message').that.contains('want host:port');
    }
  });

  it('says so when the port is taken', async () => {
    const first = await startHealth({ listen: '127.0.0.1:0', ready: () => true, metrics, log });
    try {
      const error: unknown = await startHealth({ listen: first.address, ready: () => true, metrics, log }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.have.property('code', 'EADDRINUSE');
    } finally {
      await first.close();
    }
  });
});
