/**
 * What the ledger needs of etcd beyond its own contract. The real server and the model pass it, so
 * a run of the simulation has no behaviour that etcd does not have.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';

const bytes = (text: string): Buffer => Buffer.from(text);
const put = (key: string, value: string) => ({ request_put: { key: bytes(key), value: bytes(value) } });
const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'OK',
    (error: unknown) => (error as Error).message.replace(/^\d+ /, ''),
  );

/** @param connect returns a client of an empty store */
export function describeEtcd(title: string, connect: () => Promise<Etcd3>): void {
  describe(title, () => {
    let client: Etcd3;
    beforeEach(async () => (client = await connect()));

    it('etcd counts one revision for each transaction, and none for one that changes nothing', async () => {
      const revision = async (): Promise<number> =>
        Number((await client.kv.range({ key: bytes('/x') })).header.revision);
      const before = await revision();
      await client.kv.txn({ compare: [], success: [put('/a', '1'), put('/b', '1')], failure: [] });
      expect(await revision()).to.equal(before + 1);
      await client.kv.deleteRange({ key: bytes('/none') });
      await client.kv.txn({ compare: [], success: [{ request_range: { key: bytes('/a') } }], failure: [] });
      expect(await revision()).to.equal(before + 1);
      const { kvs } = await client.kv.range({ key: bytes('/'), range_end: bytes('0') });
      expect(kvs.map((each) => [String(each.key), Number(each.mod_revision) - before, each.version])).to.deep.equal([
        ['/a', 1, '1'],
        ['/b', 1, '1'],
      ]);
    });

    it('etcd counts versions of a key, and begins again after its deletion', async () => {
      for (const value of ['1', '2']) await client.kv.put({ key: bytes('/a'), value: bytes(value) });
      const first = (await client.kv.range({ key: bytes('/a') })).kvs[0];
      expect(first?.version).to.equal('2');
      expect(Number(first?.mod_revision) - Number(first?.create_revision)).to.equal(1);
      await client.kv.deleteRange({ key: bytes('/a') });
      await client.kv.put({ key: bytes('/a'), value: bytes('3') });
      const again = (await client.kv.range({ key: bytes('/a') })).kvs[0];
      expect(again?.version).to.equal('1');
      expect(again?.create_revision).to.equal(again?.mod_revision);
    });

    it('etcd compares a missing key as revision 0, and never by its value', async () => {
      const compare = (target: 'Create' | 'Mod' | 'Version', field: string) => ({
        key: bytes('/missing'),
        target,
        result: 'Equal' as const,
        [field]: '0',
      });
      for (const each of [
        compare('Create', 'create_revision'),
        compare('Mod', 'mod_revision'),
        compare('Version', 'version'),
      ])
        expect((await client.kv.txn({ compare: [each], success: [], failure: [] })).succeeded).to.equal(true);
      for (const result of ['Equal', 'NotEqual', 'Less'] as const) {
        const each = { key: bytes('/missing'), target: 'Value' as const, result, value: bytes('x') };
        expect((await client.kv.txn({ compare: [each], success: [], failure: [] })).succeeded, result).to.equal(false);
      }
    });

    it('etcd compares each key of a range, and passes an empty one', async () => {
      const isAbsent = {
        key: bytes('/r/'),
        range_end: bytes('/r0'),
        target: 'Create' as const,
        result: 'Equal' as const,
        create_revision: '0',
      };
      const send = () => client.kv.txn({ compare: [isAbsent], success: [], failure: [] });
      expect((await send()).succeeded).to.equal(true);
      await client.kv.put({ key: bytes('/r/1'), value: bytes('x') });
      expect((await send()).succeeded).to.equal(false);
    });

    it('etcd refuses a key that a transaction writes twice, and more than 128 operations', async () => {
      const send = (success: readonly object[]) =>
        code(client.kv.txn({ compare: [], success: success as never, failure: [] }));
      expect(await send([put('/a', '1'), put('/a', '2')])).to.contain('duplicate key given in txn request');
      const removal = { request_delete_range: { key: bytes('/a'), range_end: bytes('/b') } };
      expect(await send([put('/a1', '1'), removal])).to.contain('duplicate key given in txn request');
      const many = Array.from({ length: 129 }, (_, index) => put(`/many/${index}`, 'x'));
      expect(await send(many)).to.contain('too many operations in txn request');
      expect(await send(many.slice(1))).to.equal('OK');
    });

    it('etcd reads an earlier revision until it is compacted', async () => {
      await client.kv.put({ key: bytes('/a'), value: bytes('old') });
      const { header } = await client.kv.range({ key: bytes('/a') });
      await client.kv.put({ key: bytes('/a'), value: bytes('new') });
      const read = () => client.kv.range({ key: bytes('/a'), revision: header.revision });
      expect(String((await read()).kvs[0]?.value)).to.equal('old');
      await client.kv.compact({ revision: String(Number(header.revision) + 1), physical: false });
      expect(await code(read())).to.contain('required revision has been compacted');
      const future = { key: bytes('/a'), revision: String(Number(header.revision) + 100) };
      expect(await code(client.kv.range(future))).to.contain('required revision is a future revision');
      const again = client.kv.compact({ revision: header.revision, physical: false });
      expect(await code(again)).to.contain('required revision has been compacted');
    });

    it('etcd returns pages, counts and keys without values', async () => {
      for (const key of ['/p/1', '/p/2', '/p/3']) await client.kv.put({ key: bytes(key), value: bytes('value') });
      const range = { key: bytes('/p/'), range_end: bytes('/p0') };
      const page = await client.kv.range({ ...range, limit: 2 });
      expect([page.kvs.length, page.more, page.count]).to.deep.equal([2, true, '3']);
      const counted = await client.kv.range({ ...range, count_only: true });
      expect([counted.kvs.length, counted.more, counted.count]).to.deep.equal([0, false, '3']);
      const keys = await client.kv.range({ ...range, keys_only: true });
      expect(keys.kvs.map(({ value }) => value.length)).to.deep.equal([0, 0, 0]);
    });

    it('etcd deletes the keys of a lease that is revoked or expires, and refuses a lease that has ended', async function () {
      this.timeout(20_000);
      const { ID: revoked } = await client.leaseClient.leaseGrant({ TTL: 60 });
      await client.kv.put({ key: bytes('/l/1'), value: bytes('x'), lease: revoked });
      await client.leaseClient.leaseRevoke({ ID: revoked });
      expect((await client.kv.range({ key: bytes('/l/1') })).kvs).to.deep.equal([]);
      expect(await code(client.kv.put({ key: bytes('/l/1'), value: bytes('x'), lease: revoked }))).to.contain(
        'not found',
      );
      expect(await code(client.leaseClient.leaseRevoke({ ID: revoked }))).to.not.equal('OK');

      const { ID: expiring } = await client.leaseClient.leaseGrant({ TTL: 2 });
      const [kept, moved] = ['/l/2', '/l/3'];
      for (const key of [kept, moved]) await client.kv.put({ key: bytes(key), value: bytes('x'), lease: expiring });
      await client.kv.put({ key: bytes(moved), value: bytes('x') });
      const left = async (): Promise<string[]> =>
        (await client.kv.range({ key: bytes('/l/'), range_end: bytes('/l0') })).kvs.map(({ key }) => String(key));
      expect(await left()).to.deep.equal([kept, moved]);
      while ((await left()).includes(kept)) await sleep(100);
      expect(await left(), 'a put without the lease detaches the key').to.deep.equal([moved]);
    });

    it('etcd notifies a watch of the changes of its keys, in one response for each revision', async () => {
      const watcher = await client.watch().prefix('/w/').create();
      const seen: string[] = [];
      const three = new Promise<void>((resolve) => {
        watcher.on('data', ({ events, header }) => {
          seen.push(
            events.map(({ type, kv }) => `${type} ${String(kv.key)} ${kv.mod_revision === header.revision}`).join(),
          );
          if (seen.length === 3) resolve();
        });
      });
      await client.kv.put({ key: bytes('/other'), value: bytes('x') });
      await client.kv.txn({ compare: [], success: [put('/w/1', '1'), put('/w/2', '1')], failure: [] });
      await client.kv.put({ key: bytes('/w/1'), value: bytes('2') });
      await client.kv.deleteRange({ key: bytes('/w/2') });
      await three;
      expect(seen).to.deep.equal(['Put /w/1 true,Put /w/2 true', 'Put /w/1 true', 'Delete /w/2 true']);
      const ended = once(watcher, 'end').catch(() => undefined);
      await watcher.cancel();
      await Promise.race([ended, sleep(0)]);
    });

    it('etcd reports its size and revision', async () => {
      await client.kv.put({ key: bytes('/a'), value: bytes('x') });
      const { header, dbSizeInUse, errors } = await client.maintenance.status();
      expect(Number(header.revision)).to.be.greaterThan(0);
      expect(Number(dbSizeInUse)).to.be.greaterThan(0);
      expect(errors).to.deep.equal([]);
    });
  });
}
