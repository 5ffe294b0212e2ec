import { expect } from 'chai';
import { S3Archive } from '../../services/allocator/archive/s3.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type ObjectStore, startObjectStore } from '../harness/s3.ts';

describe('An archive in an object store', function () {
  this.timeout(900_000); // it may have to be built
  let run: Run;
  let store: ObjectStore;
  before(async () => {
    run = openRun();
    store = await startObjectStore(run);
  });
  after(() => run.end());

  const archiveAt = (location: string, env = {}): S3Archive =>
    S3Archive.fromEnvironment(location, { ...store.env, ...env });
  const failureOf = async (promise: Promise<unknown>): Promise<Error> =>
    promise.then(
      () => new Error('it did not fail'),
      (error: unknown) => error as Error,
    );

  it('gives back what was put, under a prefix too, and nothing where nothing is', async () => {
    for (const location of ['s3://archive', 's3://archive/', 's3://archive/some/prefix']) {
      const archive = archiveAt(location);
      const content = Buffer.from(`of ${location} \0 \xff`);
      await archive.put('ledger/one.events', content, run.signal);
      await archive.put('ledger/one.events', content, run.signal);
      expect(await archive.get('ledger/one.events', run.signal)).to.deep.equal(content);
      expect(await archive.get('ledger/two.events', run.signal)).to.equal(undefined);
    }
    expect(archiveAt('s3://archive/some/prefix').location).to.match(/^s3 http:\/\/127.*\/archive\/some\/prefix$/);
  });

  it('keeps several megabytes', async () => {
    const content = Buffer.alloc(9 << 20, 'x');
    const archive = archiveAt('s3://archive');
    await archive.put('large', content, run.signal);
    expect((await archive.get('large', run.signal))?.equals(content)).to.be.true;
  });

  it('says so when it is not let in, or there is no such bucket', async () => {
    const stranger = archiveAt('s3://archive', { AWS_SECRET_ACCESS_KEY: 'wrong' });
    const elsewhere = archiveAt('s3://elsewhere');
    for (const [archive, status] of [
      [stranger, 403],
      [elsewhere, 404],
    ] as const)
      for (const ask of [
        () => archive.get('large', run.signal),
        () => archive.put('large', Buffer.from('x'), run.signal),
      ]) {
        const error = await failureOf(ask());
        expect(error).to.have.property('code', 'UNAVAILABLE');
        expect(error.message).to.match(new RegExp(`^the archive: (GET|PUT) http.*/large: ${status}`));
      }
  });

  it('says so when nobody answers, and goes on when it is there again', async () => {
    const archive = archiveAt('s3://archive');
    await store.kill();
    const error = await failureOf(archive.get('large', run.signal));
    expect(error).to.have.property('code', 'UNAVAILABLE');
    expect(error.message).to.match(/^the archive: no answer to GET .*ECONNREFUSED/);
    await store.start();
    expect(await archive.get('large', run.signal)).to.have.length(9 << 20);
  });

  it('is refused where the environment says too little', () => {
    expect(() => archiveAt('s3://')).to.throw('names no bucket');
    expect(() => archiveAt('s3://archive', { AWS_ACCESS_KEY_ID: '' })).to.throw('needs AWS_ACCESS_KEY_ID');
  });
});
