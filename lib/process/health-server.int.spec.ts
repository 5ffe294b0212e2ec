import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { type HealthServerOptions, startHealthServer as startUntilStop } from './health-server.ts';
import { createRegistry, addGauge } from './metrics.ts';

const log = pino({ level: 'silent' });
const metrics = createRegistry('test');

async function startHealthServer(options: HealthServerOptions) {
  const stops: (() => void | Promise<void>)[] = [];
  const addresses = await startUntilStop(options, { onStop: (stop) => stops.push(stop) });
  return { addresses, close: () => Promise.all(stops.map(async (stop) => stop())) };
}

describe('Health server', () => {
  it('Health server reports liveness and the current readiness', async () => {
    let ready = false;
    const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => ready, metrics, log });
    try {
      const status = async (path: string) => (await fetch(`http://${health.addresses[0]}${path}`)).status;
      expect(await status('/livez')).to.equal(200);
      expect(await status('/readyz')).to.equal(503);
      ready = true;
      expect(await status('/readyz?verbose')).to.equal(200);
      expect(await status('/')).to.equal(404);
    } finally {
      await health.close();
    }
  });

  it('Health server serves the metrics', async () => {
    const counted = createRegistry('test');
    addGauge(counted, { name: 'here', help: 'Whether it is here.', read: () => true });
    const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics: counted, log });
    try {
      const response = await fetch(`http://${health.addresses[0]}/metrics`);
      expect(response.headers.get('content-type')).to.contain('text/plain; version=0.0.4');
      expect(await response.text()).to.match(/^here 1$/m);
    } finally {
      await health.close();
    }
  });

  it('Health server reports the reason when it is not ready', async () => {
    let ready: boolean | string = 'no reply from the allocator yet';
    const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => ready, metrics, log });
    const answer = async () => {
      const response = await fetch(`http://${health.addresses[0]}/readyz`);
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

  describe('with many connections of other clients', () => {
    const opened: Socket[] = [];
    afterEach(() => {
      for (const socket of opened.splice(0)) socket.destroy();
    });

    /** Opens a connection. Resolves when the server can have accepted it. Ignores its errors. */
    async function open(address: string, localAddress = '127.0.0.1'): Promise<Socket> {
      const [host = '', port] = address.split(':');
      const socket = connect({ host, port: Number(port), localAddress });
      opened.push(socket.on('error', () => {}));
      await once(socket, 'connect');
      return socket;
    }

    /** The status of a probe from an address, or the error if there is no answer. */
    async function probe(address: string, localAddress?: string): Promise<string> {
      const socket = await open(address, localAddress);
      socket.write('GET /livez HTTP/1.1\r\nHost: probe\r\n\r\n');
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text.split('\r\n', 1)[0] ?? '';
    }

    it('The health server answers probes, even from the address of the other clients, because it closes the oldest connections', async () => {
      const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics, log });
      try {
        const silent = await Promise.all(Array.from({ length: 400 }, () => open(String(health.addresses[0]))));
        expect(await probe(String(health.addresses[0]))).to.equal('HTTP/1.1 200 OK');
        expect(await probe(String(health.addresses[0]), '127.0.0.2')).to.equal('HTTP/1.1 200 OK');
        const isOpen = silent.map(({ closed }) => !closed);
        expect(isOpen.filter(Boolean)).to.have.length.at.most(256);
      } finally {
        await health.close();
      }
    });

    it('The health server closes no connection of an address with few connections while another address has many', async () => {
      const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics, log });
      try {
        const early = await open(String(health.addresses[0]), '127.0.0.2');
        for (let round = 0; round < 4; round++)
          await Promise.all(Array.from({ length: 100 }, () => open(String(health.addresses[0]))));
        early.write('GET /livez HTTP/1.1\r\nHost: probe\r\n\r\n');
        const [answer] = (await once(early, 'data')) as [Buffer];
        expect(String(answer)).to.match(/^HTTP\/1.1 200 OK/);
      } finally {
        await health.close();
      }
    });

    it('Health server with many connections of other clients closes a connection after its answer', async () => {
      const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics, log });
      try {
        expect(await probe(String(health.addresses[0]))).to.equal('HTTP/1.1 200 OK'); // which reads until the end
      } finally {
        await health.close();
      }
    });
  });

  it('Health server collects the metrics once for requests that arrive together', async () => {
    const counted = createRegistry('test');
    let collected = 0;
    addGauge(counted, { name: 'here', help: 'Whether it is here.', read: () => ++collected > 0 });
    const health = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics: counted, log });
    try {
      const texts = await Promise.all(
        Array.from({ length: 50 }, async () => (await fetch(`http://${health.addresses[0]}/metrics`)).text()),
      );
      for (const text of texts) expect(text).to.match(/^here 1$/m);
      expect(collected).to.be.below(10);
    } finally {
      await health.close();
    }
  });

  it('Health server listens on several addresses, each with its own connections', async () => {
    const health = await startHealthServer({ listen: '127.0.0.1:0,127.0.0.2:0', ready: () => true, metrics, log });
    try {
      expect(health.addresses).to.have.length(2);
      for (const address of health.addresses) expect((await fetch(`http://${address}/livez`)).status).to.equal(200);
    } finally {
      await health.close();
    }
  });

  it('Health server listens nowhere without an address', async () => {
    expect(await startHealthServer({ listen: '', ready: () => true, metrics, log })).to.deep.include({ addresses: [] });
  });

  it('Health server rejects an invalid address with a message', async () => {
    for (const listen of [',', '8081', 'localhost', '::1:80', '127.0.0.1:99999']) {
      const error: unknown = await startHealthServer({ listen, ready: () => true, metrics, log }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(Error).with.property('message').that.contains('use host:port');
    }
  });

  it('Health server fails when the port is in use', async () => {
    const first = await startHealthServer({ listen: '127.0.0.1:0', ready: () => true, metrics, log });
    try {
      const error: unknown = await startHealthServer({
        listen: String(first.addresses[0]),
        ready: () => true,
        metrics,
        log,
      }).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('code', 'EADDRINUSE');
    } finally {
      await first.close();
    }
  });
});
