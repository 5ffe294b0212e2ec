import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { openRun, type Run } from '../../test/harness/run.ts';
import { failureOf, never } from '../log/testing/running-writer.ts';
import { EtcdArchive } from './etcd-archive.ts';
import { describeArchive } from './testing/archive.contract.ts';
import { startEtcdAndClient } from '../log/testing/etcd-and-client.ts';

const pageBytes = 4_096;
/**
 * The headers of a page and of an entry, the revision that is its key, and five numbers of etcd.
 */
const keyOverheadBytes = 120;

describe('An archive in etcd', function () {
  this.timeout(120_000);
  let run: Run;
  let client: Etcd3;
  before(async () => {
    run = openRun();
    ({ client } = await startEtcdAndClient(run));
  });
  after(() => run.end());

  describeArchive('keeps the contract of an archive', () => new EtcdArchive(client));

  describe('of limited size', () => {
    let archive: EtcdArchive;
    beforeEach(async () => {
      await client.delete().all();
      archive = new EtcdArchive(client, 512 << 20);
    });

    it('location names the limit of the archive', () => {
      expect(archive.location).to.equal('etcd, at most 512 MiB');
    });

    it('size counts the chunks of all files', async () => {
      expect(await archive.size(never)).to.equal(0);
      await archive.put('ledger/one', Buffer.alloc(1), never);
      const bytesOfChunk = await archive.size(never);
      await archive.put('other/two', Buffer.alloc(bytesOfChunk + 1), never);
      expect(await archive.size(never)).to.equal(3 * bytesOfChunk);
    });

    it('each key of a file fits into one page of etcd, because runs of adjacent free pages get rare', async () => {
      const name = `${'A'.repeat(26)}/${'0'.repeat(16)}-${'9'.repeat(16)}.${'f'.repeat(16)}.events.ndjson.gz`;
      await archive.put(name, Buffer.alloc(100_000), never);
      const { kvs } = await client.getAll().exec();
      for (const { key, value } of kvs) expect(key.length + value.length).to.be.at.most(pageBytes - keyOverheadBytes);
    });

    it('deleteBefore deletes the files before a name, and none of another ledger', async () => {
      for (const name of ['ledger/0001-a', 'ledger/0002-a', 'ledger/0002-b', 'ledger/0003-a', 'another/0001-a'])
        await archive.put(name, Buffer.alloc(40_000), never);
      await archive.deleteBefore('ledger/', 'ledger/0002-b', never);
      const names = (await client.getAll().keys()).map((key) => key.split('/').slice(4, 6).join('/'));
      expect([...new Set(names)]).to.deep.equal(['another/0001-a', 'ledger/0002-b', 'ledger/0003-a']);
    });

    it('An archive in etcd of limited size rejects a hostile value before it reads more of the file', async () => {
      for (let chunk = 0; chunk < 40; chunk++)
        await client
          .put(`/ipledger/archive/v1/ledger/one/${String(chunk).padStart(6, '0')}`)
          .value(Buffer.alloc(1 << 20));
      const { code, message } = await failureOf(archive.get('ledger/one', 1_000, never));
      expect(code).to.equal('LEDGER_DAMAGED');
      expect(message).to.contain('/ipledger/archive/v1/ledger/one is damaged: it has more than 1000 bytes');
    });
  });
});
