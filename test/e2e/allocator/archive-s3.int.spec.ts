import { expect } from 'chai';
import { describeArchive } from '../../../ledger/archive/testing/archive.contract.ts';
import { S3Archive } from '../../../ledger/archive/s3-archive.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type ObjectStore, startObjectStore } from '../../harness/object-store.ts';

describe('An archive in an object store', function () {
  this.timeout(900_000); // the object store may have to be built first
  let run: Run;
  let store: ObjectStore;
  before(async () => {
    run = openRun();
    store = await startObjectStore(run);
  });
  after(() => run.end());

  const archiveAt = (location: string, env = {}): S3Archive =>
    S3Archive.fromEnvironment(location, { ...store.env, ...env });
  const errorOf = async (promise: Promise<unknown>): Promise<Error> =>
    promise.then(
      () => new Error('the promise did not fail'),
      (error: unknown) => error as Error,
    );

  describeArchive('keeps the contract of an archive', () => archiveAt('s3://archive/contract'));

  it('An archive in an object store returns a stored object, also under a prefix, and undefined for a missing one', async () => {
    for (const location of ['s3://archive', 's3://archive/', 's3://archive/some/prefix']) {
      const archive = archiveAt(location);
      const content = Buffer.from(`of ${location} \0 \xff`);
      await archive.put('ledger/one.events', content, run.signal);
      await archive.put('ledger/one.events', content, run.signal);
      expect(await archive.get('ledger/one.events', 1_024, run.signal)).to.deep.equal(content);
      expect(await archive.get('ledger/two.events', 1_024, run.signal)).to.equal(undefined);
    }
    expect(archiveAt('s3://archive/some/prefix').location).to.match(/^s3 http:\/\/127.*\/archive\/some\/prefix$/);
  });

  it('An archive in an object store reports UNAVAILABLE when the credentials are rejected or the bucket does not exist', async () => {
    const unauthorized = archiveAt('s3://archive', { AWS_SECRET_ACCESS_KEY: 'wrong' });
    const missing = archiveAt('s3://missing');
    for (const [archive, status] of [
      [unauthorized, 403],
      [missing, 404],
    ] as const)
      for (const request of [
        () => archive.get('large', 16 << 20, run.signal),
        () => archive.put('large', Buffer.from('x'), run.signal),
      ]) {
        const error = await errorOf(request());
        expect(error).to.have.property('code', 'UNAVAILABLE');
        expect(error.message).to.match(new RegExp(`^the archive: (GET|PUT) http.*/large: ${status}`));
      }
  });

  it('An archive in an object store reports UNAVAILABLE while the store is down, and recovers after its restart', async () => {
    const archive = archiveAt('s3://archive');
    await archive.put('one', Buffer.from('one'), run.signal);
    await store.kill();
    const error = await errorOf(archive.get('one', 16, run.signal));
    expect(error).to.have.property('code', 'UNAVAILABLE');
    expect(error.message).to.match(/^the archive: no answer to GET .*ECONNREFUSED/);
    await store.start();
    expect(await archive.get('one', 16, run.signal)).to.deep.equal(Buffer.from('one'));
  });

  it('An archive in an object store is rejected without a bucket or credentials', () => {
    expect(() => archiveAt('s3://')).to.throw('has no bucket');
    expect(() => archiveAt('s3://archive', { AWS_ACCESS_KEY_ID: '' })).to.throw(
      'needs credentials: set AWS_ACCESS_KEY_ID',
    );
  });
});
