import { expect } from 'chai';
import { type Api, ApiError } from './api.ts';
import { deletedSince } from './history.ts';
import { nodes } from './objects.ts';

const { signal } = new AbortController();

/** Tells these events of a watch, whatever it is asked. */
function tells(asked: string[], ...events: object[]): Api {
  return {
    server: 'http://fake',
    request: () => Promise.reject(new Error('not asked for')),
    async *stream(path) {
      asked.push(path);
      yield* await Promise.resolve(events);
    },
  };
}

const event = (type: string, name: string) => ({ type, object: { metadata: { name, uid: `uid-${name}` } } });

async function namesOf(api: Api): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of deletedSince(api, nodes, { version: '17', signal })) names.push(name);
  return names;
}

describe('what the API remembers', () => {
  it('are the deletions since a version, asked for with an end', async () => {
    const asked: string[] = [];
    const api = tells(asked, event('ADDED', 'a'), event('DELETED', 'b'), event('MODIFIED', 'c'), event('DELETED', 'd'));
    expect(await namesOf(api)).to.deep.equal(['b', 'd']);
    const [path, query] = (asked[0] ?? '').split('?');
    expect(path).to.equal('/api/v1/nodes');
    expect(Object.fromEntries(new URLSearchParams(query))).to.deep.equal({
      watch: 'true',
      resourceVersion: '17',
      timeoutSeconds: '5',
    });
  });

  it('ends where it does not reach back so far', async () => {
    const expired = { type: 'ERROR', object: { code: 410, message: 'too old resource version' } };
    const error = await namesOf(tells([], expired)).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ApiError);
    expect(error).to.include({ status: 410, message: 'watch of /api/v1/nodes: too old resource version' });
  });
});
