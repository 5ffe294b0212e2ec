import { expect } from 'chai';
import type { Api } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import { deletedSince } from './deletion-history.ts';
import { nodes } from '../objects/node.ts';

const { signal } = new AbortController();

/** Replies to each watch with the next stream: events, and optionally an error at the end. */
function replying(...streams: readonly (readonly (object | ApiError)[])[]): { api: Api; queries: URLSearchParams[] } {
  const queries: URLSearchParams[] = [];
  const api: Api = {
    server: 'http://fake',
    request: () => Promise.reject(new Error('unexpected request')),
    async *stream(path) {
      expect(path.split('?')[0]).to.equal('/api/v1/nodes');
      queries.push(new URLSearchParams(path.split('?')[1]));
      await Promise.resolve();
      for (const each of streams[queries.length - 1] ?? []) {
        if (each instanceof ApiError) throw each;
        yield each;
      }
    },
  };
  return { api, queries };
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

const versionsOf = (queries: readonly URLSearchParams[]): (string | null)[] =>
  queries.map((query) => query.get('resourceVersion'));

describe('Deletion history', () => {
  it('Deletion history yields the deletions since a version, with streams of limited duration', async () => {
    const { api, queries } = replying([
      event('ADDED', 'a', 20),
      event('DELETED', 'b', 21),
      event('MODIFIED', 'c', 22),
      event('DELETED', 'd', 23),
      bookmark,
      event('DELETED', 'later', 100),
    ]);
    expect(await namesOf(api)).to.deep.equal(['b', 'd']);
    expect(queries.map((query) => Object.fromEntries(query))).to.deep.equal([
      { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: '17', timeoutSeconds: '5' },
    ]);
  });

  it('Deletion history continues with another stream when a slow server sent only a part', async () => {
    const { api, queries } = replying([event('DELETED', 'a', 20)], [event('DELETED', 'b', 21)], []);
    expect(await namesOf(api)).to.deep.equal(['a', 'b']);
    expect(versionsOf(queries)).to.deep.equal(['17', '20', '21']);
  });

  it('Deletion history continues after the connection breaks', async () => {
    const { api, queries } = replying(
      [event('DELETED', 'a', 20), new ApiError(0, 'connection reset')],
      [event('DELETED', 'b', 21), bookmark],
    );
    expect(await namesOf(api)).to.deep.equal(['a', 'b']);
    expect(versionsOf(queries)).to.deep.equal(['17', '20']);
  });

  it('Deletion history starts at the earliest version when the requested version is too old', async () => {
    const tooOld = expired('too old resource version: 17 (30)');
    const { api, queries } = replying([tooOld], [event('DELETED', 'b', 31), bookmark]);
    expect(await namesOf(api)).to.deep.equal(['b']);
    expect(versionsOf(queries)).to.deep.equal(['17', '30']);
  });

  it('Deletion history fails when the server does not report its earliest version', async () => {
    const { api, queries } = replying([expired('The resourceVersion for the provided watch is too old.')]);
    const error = await namesOf(api).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ApiError).that.includes({ status: 410 });
    expect(error)
      .to.have.property('message')
      .that.matches(/^watch of \/api\/v1\/nodes: .* is too old\.$/);
    expect(queries).to.have.length(1);
  });

  it('Deletion history ends after a limited number of streams', async () => {
    const streams = Array.from({ length: 100 }, (_, index) => [event('MODIFIED', 'a', 20 + index)]);
    const { api, queries } = replying(...streams);
    await namesOf(api);
    expect(queries.length).to.be.within(2, 20);
  });
});
