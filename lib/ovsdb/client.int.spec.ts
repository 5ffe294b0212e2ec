/** Tests connections: transports, reconnects, limits, and servers that do not answer. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type Authority,
  issueCertificate,
  openAuthority,
} from '../../test/harness/certificates/certificate-authority.ts';
import { type OvsdbServer, startOvsdbServer } from '../../test/harness/ovn/ovsdb-server.ts';
import type { Run } from '../../test/harness/run.ts';
import { type ClientOptions, OvsdbClient } from './client.ts';
import type { OvsdbTls } from './endpoint.ts';
import { OvsdbError } from './ovsdb-error.ts';
import {
  connectClient,
  deleteItems,
  expectError,
  failuresOf,
  insertItem,
  openOvsRun,
  type RecordingClient,
  testSchema,
} from './testing/test-database.ts';
import { startTcpProxy } from '../../test/harness/network/tcp-proxy.ts';

async function certificateOf(authority: Authority, name: string): Promise<OvsdbTls> {
  const subject = { name, commonName: name, alternativeNames: [`DNS:${name}.example`] };
  return { ca: authority.cert, ...(await issueCertificate(authority, subject)) };
}

describe('The OVSDB client', () => {
  let run: Run;
  let server: OvsdbServer;
  let tls: OvsdbTls;
  let foreignTls: OvsdbTls;
  const clients: RecordingClient[] = [];

  const connect = (options: Pick<ClientOptions, 'endpoints'> & Partial<ClientOptions>): RecordingClient => {
    const client = connectClient(run, options);
    clients.push(client);
    return client;
  };
  const failed = async (client: RecordingClient): Promise<string> => {
    await client.until(() => failuresOf(client).length > 0);
    return failuresOf(client)[0]?.message ?? '';
  };

  /** Starts a server that does not speak OVSDB. It calls `serve` with each connection. */
  async function startScripted(serve: (socket: Socket) => void): Promise<string> {
    const listener = createServer((socket) => {
      socket.on('error', () => undefined);
      run.signal.addEventListener('abort', () => socket.destroy());
      serve(socket);
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    run.signal.addEventListener('abort', () => listener.close());
    return `tcp:127.0.0.1:${(listener.address() as AddressInfo).port}`;
  }

  before(async function () {
    run = openOvsRun(this);
    const authority = await openAuthority(join(run.folder, 'authority'));
    const foreign = await openAuthority(join(run.folder, 'foreign'));
    tls = await certificateOf(authority, 'client');
    foreignTls = await certificateOf(foreign, 'client');
    server = await startOvsdbServer(run, {
      name: 'test',
      schema: testSchema,
      tls: await certificateOf(authority, 'server'),
    });
  });
  beforeEach(async () => {
    if (!server.isAlive) await server.start();
    const { client } = connect({ endpoints: [server.unix] });
    await client.ready();
    await client.transact([deleteItems]);
  });
  afterEach(async () => {
    server?.resume();
    await Promise.all(clients.splice(0).map((client) => client.end()));
  });
  after(() => run?.end());

  for (const kind of ['unix', 'tcp', 'ssl'] as const)
    it(`The OVSDB client runs transactions and keeps a replica over ${kind}`, async () => {
      const { client, items } = connect({ endpoints: [server[kind] ?? ''], tls });
      await client.ready();
      await client.transact([insertItem({ name: kind })]);
      expect(items()).to.deep.equal([kind]);
      expect(client.endpoint).to.equal(server[kind]);
    });

  it('The OVSDB client accepts only a certificate with the configured server name, if one is configured', async () => {
    const endpoints = [server.ssl ?? ''];
    const named = connect({ endpoints, tls: { ...tls, serverName: 'server.example' } });
    await named.client.ready();
    const other = connect({ endpoints, tls: { ...tls, serverName: 'other.example' } });
    expect(await failed(other)).to.match(/cannot connect to ssl:.*other\.example/);
  });

  it('The OVSDB client rejects a server of another authority', async () => {
    const client = connect({ endpoints: [server.ssl ?? ''], tls: { ...tls, ca: foreignTls.ca } });
    expect(await failed(client)).to.match(/cannot connect to ssl:.*certificate/);
  });

  it('The OVSDB client reports a server that rejects its certificate', async () => {
    const client = connect({ endpoints: [server.ssl ?? ''], tls: { ...foreignTls, ca: tls.ca } });
    expect(await failed(client)).to.match(/certificate|alert|closed|ECONNRESET/);
    expect(failuresOf(client)[0]?.code).to.equal('NOT_CONNECTED');
  });

  it('The OVSDB client rejects endpoints that it cannot parse, and ssl without certificates', () => {
    const open = (endpoints: string[]) => () => new OvsdbClient({ endpoints, database: 'Test', signal: run.signal });
    expect(open(['http://host'])).to.throw(
      'http://host is no OVSDB endpoint: use unix:/path, tcp:host:port or ssl:host',
    );
    expect(open(['tcp:host:70000'])).to.throw('is no OVSDB endpoint');
    expect(open(['ssl:[::1]:6641'])).to.throw('ssl:[::1]:6641 needs certificate files');
    expect(open([])).to.throw('Test: no endpoint');
  });

  it('The OVSDB client tries all endpoints until one serves the database', async () => {
    const { client } = connect({ endpoints: ['tcp:127.0.0.1:1', 'unix:/nonexistent', server.unix] });
    await client.ready();
    expect(client.endpoint).to.equal(server.unix);
  });

  it('The OVSDB client does not use a server without the database', async () => {
    const client = connect({ endpoints: [server.unix], database: 'Other', columns: {} });
    expect(await failed(client)).to.equal('the server has no database Other');
  });

  it('The OVSDB client reconnects after the server was killed, and its replica then contains the changes of other clients', async () => {
    const own = connect({ endpoints: [server.unix] });
    await own.client.ready();
    await own.client.transact([insertItem({ name: 'a' }), insertItem({ name: 'b' })]);
    await server.kill();
    await own.until(() => failuresOf(own).length > 0);
    await expectError(own.client.transact([deleteItems]), 'NOT_CONNECTED');
    expect(own.items()).to.deep.equal(['a', 'b']);

    await server.start();
    const other = connect({ endpoints: [server.tcp] });
    await other.client.ready();
    await other.client.transact([
      { op: 'delete', table: 'Item', where: [['name', '==', 'a']] },
      insertItem({ name: 'c' }),
    ]);
    await own.until(() => own.items().join() === 'b,c');
  });

  it('The OVSDB client reports all rows as deleted when the database is empty after a restart', async () => {
    const own = connect({ endpoints: [server.unix] });
    await own.client.ready();
    await own.client.transact([insertItem({ name: 'a' })]);
    await server.kill();
    await server.recreate();
    await server.start();
    await own.until(() => own.updates.filter(({ isReload }) => isReload).length === 2);
    const { changes } = own.updates.at(-1) ?? { changes: [] };
    expect(changes.map(({ before, after }) => [before?.['name'], after])).to.deep.equal([['a', undefined]]);
    expect(own.items()).to.deep.equal([]);
  });

  it('The OVSDB client has a replica that equals the database after the server was killed several times under writes', async () => {
    const [own, writer] = [connect({ endpoints: [server.tcp] }), connect({ endpoints: [server.unix] })];
    const outcomes = new Map<string, 'written' | 'unknown'>();
    const killed = new AbortController();
    const write = async (): Promise<void> => {
      for (let sent = 1; !killed.signal.aborted; sent++) {
        await writer.client.ready();
        const name = `item-${sent}`;
        const outcome = await writer.client.transact([insertItem({ name, texts: new Set([name, 'x']) })]).then(
          () => 'written' as const,
          (error: unknown) => (error instanceof OvsdbError ? error.code : 'no OVSDB error'),
        );
        if (outcome === 'NOT_CONNECTED') continue;
        expect(outcome).to.be.oneOf(['written', 'OUTCOME_UNKNOWN']);
        outcomes.set(name, outcome === 'written' ? 'written' : 'unknown');
      }
    };
    const kill = async (): Promise<void> => {
      for (let round = 1; round <= 4; round++) {
        const before = outcomes.size;
        await own.until(() => outcomes.size > before + 20);
        await server.restart();
      }
      killed.abort();
    };
    await Promise.all([write(), kill()]);

    await writer.client.ready();
    const [, selection] = await writer.client.transact([
      insertItem({ name: 'end' }),
      { op: 'select', table: 'Item', where: [], columns: ['name'] },
    ]);
    const stored = (selection?.rows ?? []).map(({ name }) => name as string);
    await own.until(() => own.items().includes('end'));
    expect(own.items()).to.deep.equal(stored.sort());
    const lost = [...outcomes].filter(([name, outcome]) => outcome === 'written' && !stored.includes(name));
    expect(lost).to.deep.equal([]);
  });

  it('The OVSDB client fails a transaction with OUTCOME_UNKNOWN when the server ends before its answer', async () => {
    const { client } = connect({ endpoints: [server.unix] });
    await client.ready();
    server.freeze();
    const outcome = expectError(client.transact([insertItem({ name: 'a' })]), 'OUTCOME_UNKNOWN');
    await server.kill();
    expect((await outcome).message).to.match(/^no answer: the (server closed the connection|connection failed)/);
  });

  it('The OVSDB client fails a transaction with OUTCOME_UNKNOWN at its time limit, and connects again', async () => {
    const own = connect({ endpoints: [server.unix] });
    await own.client.ready();
    server.freeze();
    const error = await expectError(
      own.client.transact([insertItem({ name: 'a' })], { timeoutMs: 50 }),
      'OUTCOME_UNKNOWN',
    );
    expect(error.message).to.equal('the server did not answer transact within 50 ms');
    await own.until(() => failuresOf(own).length > 0);
    server.resume();
    await own.client.ready();
  });

  it('The OVSDB client closes the connection to a server that accepts it and never answers', async () => {
    const silent = await startScripted(() => undefined);
    const client = connect({ endpoints: [silent], limits: { requestMs: 50 } });
    expect(await failed(client)).to.equal('the server did not answer list_dbs within 50 ms');
  });

  it('The OVSDB client closes the connection to a server that sends nothing, although no request waits', async () => {
    const own = connect({ endpoints: [server.unix], limits: { probeMs: 100 } });
    await own.client.ready();
    server.freeze();
    await own.until(() => failuresOf(own).some(({ message }) => message === 'the server sent nothing for 200 ms'));
    server.resume();
    await own.client.ready();
  });

  it('The OVSDB client stays connected to an idle server that answers its echoes', async () => {
    let echoes = 0;
    const enough = Promise.withResolvers<void>();
    const change = (sent: string): string => {
      if (sent.includes('"echo"') && ++echoes === 5) enough.resolve();
      return sent;
    };
    const proxy = await startTcpProxy(run, server.unix, { change });
    const own = connect({ endpoints: [`tcp:${proxy.endpoint}`], limits: { probeMs: 500 } });
    await own.client.ready();
    await enough.promise;
    expect(failuresOf(own)).to.deep.equal([]);
  });

  it('The OVSDB client answers the echoes of a server', async () => {
    const answer = Promise.withResolvers<string>();
    const endpoint = await startScripted((socket) => {
      socket.write('{"method":"echo","params":["a"],"id":"from-server"}');
      socket.on('data', (chunk) => {
        if (chunk.includes('from-server')) answer.resolve(chunk.toString('utf8'));
      });
    });
    connect({ endpoints: [endpoint] });
    expect(await answer.promise).to.contain('{"id":"from-server","result":["a"],"error":null}');
  });

  it('The OVSDB client rejects a message that is larger than the limit, in both directions', async () => {
    const [own, other] = [
      connect({ endpoints: [server.unix], limits: { maxMessageBytes: 20_000 } }),
      connect({ endpoints: [server.unix] }),
    ];
    await Promise.all([own.client.ready(), other.client.ready()]);
    const large = insertItem({ name: 'large', texts: new Set(['x'.repeat(20_000)]) });
    const refused = await expectError(own.client.transact([large]), 'INVALID_REQUEST');
    expect(refused.message).to.equal('transact is larger than 20000 bytes');
    await other.client.transact([large]);
    await own.until(() => failuresOf(own).length > 0);
    expect(failuresOf(own)[0]).to.include({
      code: 'PROTOCOL',
      message: 'the server sent a message of more than 20000 bytes',
    });
  });

  it('The OVSDB client closes the connection to a server that does not send OVSDB', async () => {
    const endpoint = await startScripted((socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const client = connect({ endpoints: [endpoint] });
    expect(await failed(client)).to.equal('the server sent bytes that are not a JSON object');
  });

  it('The OVSDB client limits the requests that wait for their answers', async () => {
    const own = connect({ endpoints: [server.unix], limits: { maxRequests: 1 } });
    await own.client.ready();
    const first = own.client.transact([insertItem({ name: 'a' })]);
    await expectError(own.client.transact([insertItem({ name: 'b' })]), 'INVALID_REQUEST');
    await first;
  });

  it('the client ends when its signal is aborted: requests fail, and it does not connect again', async () => {
    const own = connect({ endpoints: [server.unix] });
    await own.client.ready();
    server.freeze();
    const outcome = expectError(own.client.transact([insertItem({ name: 'a' })]), 'OUTCOME_UNKNOWN');
    await own.end();
    await outcome;
    await expectError(own.client.transact([deleteItems]), 'NOT_CONNECTED');
    const statuses = own.statuses.length;
    server.resume();
    const other = connect({ endpoints: [server.unix] });
    await other.client.ready();
    expect(own.statuses).to.have.lengthOf(statuses);
  });
});
