import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { type Etcd, startEtcd } from '../../../test/harness/etcd.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { never } from '../../../ledger/log/testing/running-writer.ts';
import { ReferenceClocks, referencesOf } from './reference-clocks.ts';

const hour = 3_600_000;

describe('The clock of an allocator', function () {
  this.timeout(60_000);
  let run: Run;
  let etcd: Etcd;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run);
  });
  after(() => run.end());

  const compare = async (endpoint: string, wall: () => number): Promise<number | undefined> => {
    const clocks = new ReferenceClocks({
      references: referencesOf(endpoint, {}, {}),
      peers: () => [],
      isAccepted: false,
      log: pino({ level: 'silent' }),
      wall,
    });
    await clocks.read(never);
    expect(clocks.aheadMs.size).to.equal(1);
    return clocks.wrongByMs;
  };

  it('the clock of an allocator is compared with the clock of etcd', async () => {
    expect(await compare(etcd.endpoint, () => Date.now() + 2 * hour)).to.be.within(
      2 * hour - 60_000,
      2 * hour + 60_000,
    );
    expect(await compare(etcd.endpoint, Date.now)).to.equal(undefined);
  });

  it('the clock is compared even with the Date of a reply that refuses the request', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(401, { Date: new Date(Date.now() - 2 * hour).toUTCString() }).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await compare(endpoint, Date.now)).to.be.within(2 * hour - 60_000, 2 * hour + 60_000);
    server.close();
  });
});
