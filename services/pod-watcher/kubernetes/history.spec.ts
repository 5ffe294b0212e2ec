import { expect } from 'chai';
import { type Api, ApiError } from './api.ts';
import { deletedSince } from './history.ts';
import { nodes } from './objects.ts';

const { signal } = new AbortController();

/** Answers each watch with the next of these: events to tell, and perhaps a failure at their end. */
function tells(...streams: readonly (readonly (object | ApiError)[])[]): { api: Api; asked: URLSearchParams[] } {
  const asked: URLSearchParams[] = [];
  const api: Api = {
    server: 'http://fake',
    request: () => Promise.reject(new Error('not asked for')),
    async *stream(path) {
      expect(path.split('?')[0]).to.equal('/api/v1/nodes');
      asked.push(new URLSearchParams(path.split('?')[1]));
      await Promise.resolve();
      for (const each of streams[asked.length - 1] ?? []) {
        if (each instanceof ApiError) throw each;
        yield each;
      }
    },
  };
  return { api, asked };
}

const event = (type: string, name: string, version: number) => ({
  type,
  object: { metadata: { name, uid: `uid-${name}`, resourceVersion: String(version) } },
});
const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '99' } } };
const expired = (message: string) => ({ type: 'ERROR', object: { code: 410, message } });

async function namesOf(api: Api): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of deletedSince(api, nodes, { version: '17', signal })) names.push(name);
  return names;
}

const versionsOf = (asked: readonly URLSearchParams[]): (string | null)[] =>
  asked.map((query) => query.get('resourceVersion'));

describe('what the API remembers', () => {
  it('are the deletions since a version, asked for with an end', async () => {
    const { api, asked } = tells([
      event('ADDED', 'a', 20),
      event('DELETED', 'b', 21),
      event('MODIFIED', 'c', 22),
      event('DELETED', 'd', 23),
      bookmark,
      event('DELETED', 'later', 100),
    ]);
    expect(await namesOf(api)).to.deep.equal(['b', 'd']);
    expect(asked.map((query) => Object.fromEntries(query))).to.deep.equal([
      { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '17', timeoutSeconds: '5' },
    ]);
  });

  it('is asked for further where a slow server had not told all of it when its time was up', async () => {
    const { api, asked } = tells([event('DELETED', 'a', 20)], [event('DELETED', 'b', 21)], []);
    expect(await namesOf(api)).to.deep.equal(['a', 'b']);
    expect(versionsOf(asked)).to.deep.equal(['17', '20', '21']);
  });

  it('is asked for further when the connection breaks', async () => {
    const { api, asked } = tells(
      [event('DELETED', 'a', 20), new ApiError(0, 'connection reset')],
      [event('DELETED', 'b', 21), bookmark],
    );
    expect(await namesOf(api)).to.deep.equal(['a', 'b']);
    expect(versionsOf(asked)).to.deep.equal(['17', '20']);
  });

  it('begins later where it does not reach back so far', async () => {
    const tooOld = expired('too old resource version: 17 (30)');
    const { api, asked } = tells([tooOld], [event('DELETED', 'b', 31), bookmark]);
    expect(await namesOf(api)).to.deep.equal(['b']);
    expect(versionsOf(asked)).to.deep.equal(['17', '30']);
  });

  it('ends with why it cannot be had, where nothing says from where on it can', async () => {
    const { api, asked } = tells([expired('The resourceVersion for the provided watch is too old.')]);
    const error = await namesOf(api).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ApiError).that.includes({ status: 410 });
    expect(error)
      .to.have.property('message')
      .that.matches(/^watch of \/api\/v1\/nodes: .* is too old\.$/);
    expect(asked).to.have.length(1);
  });

  it('is not asked for without end', async () => {
    const streams = Array.from({ length: 100 }, (_, index) => [event('MODIFIED', 'a', 20 + index)]);
    const { api, asked } = tells(...streams);
    await namesOf(api);
    expect(asked.length).to.be.within(2, 20);
  });
});
