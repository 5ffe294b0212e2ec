/**
 * What both the model of the API server and the real one do, as the programs of ipledger see it.
 */
import { expect } from 'chai';
import { eventually } from '../../../e2e/support/eventually.ts';
import { metadataOnly } from '../../../../lib/kubernetes/client/list-pages.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import type { Api, ApiRequest } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { asRecord, asRecords, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';

const pods = '/api/v1/namespaces/default/pods';
const configMaps = '/api/v1/namespaces/default/configmaps';
const nodeName = 'node-1';
const spec = { containers: [{ name: 'c', image: 'none' }] };
const finalizer = 'example.com/finalizer';

/** @param open returns a client, and the next one of another spec sees none of its objects */
export function apiServerContract(open: () => Promise<Api>): void {
  let api: Api;
  let stop: AbortController;
  before(async () => (api = await open()));
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const request = async (
    method: ApiRequest['method'],
    path: string,
    body?: unknown,
    more: Partial<ApiRequest> = {},
  ) => {
    const { signal } = stop;
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    return asRecord(await api.request({ method, path, body, contentType, timeoutMs: 20_000, signal, ...more }));
  };
  const create = (path: string, name: string, more: UntypedJson = {}): Promise<UntypedJson> =>
    request('POST', path, { ...more, metadata: { name, namespace: 'default', ...asRecord(more['metadata']) } });
  const failure = async (promise: Promise<unknown>): Promise<ApiError> =>
    promise.then(
      () => expect.fail('no error'),
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        return error;
      },
    );
  const versionOf = (object: UntypedJson): number => Number(meta(object)['resourceVersion']);
  const pod = (name: string, more: object = {}, metadata: object = {}) =>
    create(pods, name, { spec: { ...spec, nodeName, ...more }, metadata: { ...metadata } });
  const remove = (path: string, options: object = {}) =>
    request('DELETE', path, { kind: 'DeleteOptions', apiVersion: 'v1', ...options });

  /** Reads a watch until it has shown `count` changes. */
  async function changes(path: string, from: number, count: number): Promise<{ type: string; object: UntypedJson }[]> {
    const found: { type: string; object: UntypedJson }[] = [];
    const query = `watch=true&resourceVersion=${from}&timeoutSeconds=20`;
    for await (const line of api.stream(`${path}?${query}`, { silenceMs: 20_000, signal: stop.signal })) {
      const { type, object } = asRecord(line);
      found.push({ type: asText(type), object: asRecord(object) });
      if (found.length === count) return found;
    }
    return found;
  }
  /** The type of each change, with the grace period of a deletion. */
  const summaries = async (path: string, from: number, count: number): Promise<string[]> =>
    (await changes(path, from, count)).map(({ type, object }) => {
      const seconds = meta(object)['deletionGracePeriodSeconds'];
      return seconds === undefined ? type : `${type} ${JSON.stringify(seconds)}`;
    });

  it('each change gives an object a later version, and a change to the same content none', async () => {
    const created = await create(configMaps, 'versions');
    const changed = await request('PATCH', `${configMaps}/versions`, { data: { a: '1', b: '2' } });
    const same = await request('PATCH', `${configMaps}/versions`, { data: { a: '1' } });
    const without = await request('PATCH', `${configMaps}/versions`, { data: { a: null } });
    expect(versionOf(changed)).to.be.greaterThan(versionOf(created));
    expect(versionOf(same)).to.equal(versionOf(changed));
    expect(without['data']).to.deep.equal({ b: '2' });
    expect(meta(without)['uid']).to.equal(meta(created)['uid']);
  });

  it('an object that is created again has another uid, and a second one of a name is refused', async () => {
    const first = await create(configMaps, 'twice');
    expect((await failure(create(configMaps, 'twice'))).reaction).to.equal('changed');
    await remove(`${configMaps}/twice`);
    expect((await failure(request('GET', `${configMaps}/twice`))).reaction).to.equal('absent');
    const second = await create(configMaps, 'twice');
    expect(meta(second)['uid']).not.to.equal(meta(first)['uid']);
  });

  it('patches and deletions of another uid or an old version are refused', async () => {
    const first = await create(configMaps, 'conditions');
    const path = `${configMaps}/conditions`;
    await request('PATCH', path, { data: { a: '1' } });
    const old = { metadata: { resourceVersion: meta(first)['resourceVersion'] }, data: { a: '2' } };
    expect((await failure(request('PATCH', path, { metadata: { uid: 'other' }, data: { a: '2' } }))).reaction).to.equal(
      'changed',
    );
    expect((await failure(request('PATCH', path, old))).reaction).to.equal('changed');
    expect((await failure(request('PUT', path, { ...first, data: {} }))).reaction).to.equal('changed');
    expect((await failure(remove(path, { preconditions: { uid: 'other' } }))).reaction).to.equal('changed');
    expect((await request('GET', path))['data']).to.deep.equal({ a: '1' });
  });

  it('a status is changed by its own path only', async () => {
    await pod('status');
    const patched = await request('PATCH', `${pods}/status`, {
      metadata: { labels: { a: 'b' } },
      status: { phase: 'Running' },
    });
    expect([asRecord(patched['status'])['phase'], meta(patched)['labels']]).to.deep.equal(['Pending', { a: 'b' }]);
    const status = { spec: { nodeName: 'other' }, status: { phase: 'Running' } };
    const shown = await request('PATCH', `${pods}/status/status`, status);
    expect([asRecord(shown['status'])['phase'], asRecord(shown['spec'])['nodeName']]).to.deep.equal([
      'Running',
      nodeName,
    ]);
  });

  it('a Pod with a node is deleted by two requests, each of which a watch shows as MODIFIED first', async () => {
    const created = await pod('graceful');
    await remove(`${pods}/graceful`, { gracePeriodSeconds: 20 });
    await remove(`${pods}/graceful`, { gracePeriodSeconds: 30 });
    await remove(`${pods}/graceful`, { gracePeriodSeconds: 0 });
    expect(await summaries(pods, versionOf(created), 3)).to.deep.equal(['MODIFIED 20', 'MODIFIED 0', 'DELETED 0']);
  });

  it('the deletion of a mirror without grace is MODIFIED before DELETED, and the next mirror is ADDED', async () => {
    const hash = '0123456789abcdef0123456789abcdef';
    const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
    const first = await pod('mirror-node-1', {}, { annotations });
    await remove(`${pods}/mirror-node-1`, { gracePeriodSeconds: 0 });
    const next = await pod('mirror-node-1', {}, { annotations });
    expect(await summaries(pods, versionOf(first), 3)).to.deep.equal(['MODIFIED 0', 'DELETED 0', 'ADDED']);
    expect(meta(next)['uid']).not.to.equal(meta(first)['uid']);
  });

  it('a Pod without node, and one that has ended, are deleted at once', async () => {
    const unscheduled = await create(pods, 'unscheduled', { spec });
    await remove(`${pods}/unscheduled`);
    expect(await summaries(pods, versionOf(unscheduled), 2)).to.deep.equal(['MODIFIED 0', 'DELETED 0']);
    await pod('ended');
    const ended = await request('PATCH', `${pods}/ended/status`, { status: { phase: 'Succeeded' } });
    await remove(`${pods}/ended`);
    expect(await summaries(pods, versionOf(ended), 2)).to.deep.equal(['MODIFIED 0', 'DELETED 0']);
  });

  it('a Pod with a finalizer exists until the update that removes it, which is its deletion', async () => {
    const created = await pod('finalized', {}, { finalizers: [finalizer] });
    await remove(`${pods}/finalized`, { gracePeriodSeconds: 0 });
    expect(meta(await request('GET', `${pods}/finalized`))['deletionGracePeriodSeconds']).to.equal(0);
    await request('PATCH', `${pods}/finalized`, { metadata: { finalizers: [] } });
    expect(await summaries(pods, versionOf(created), 2)).to.deep.equal(['MODIFIED 0', 'DELETED 0']);
  });

  it('another object with a finalizer is marked, and then deleted', async () => {
    const created = await create(configMaps, 'marked', { metadata: { finalizers: [finalizer] } });
    await remove(`${configMaps}/marked`);
    await remove(`${configMaps}/marked`);
    await request('PATCH', `${configMaps}/marked`, { metadata: { finalizers: null } });
    expect(await summaries(configMaps, versionOf(created), 2)).to.deep.equal(['MODIFIED 0', 'DELETED 0']);
  });

  it('a Pod is bound to a node once, and not while it is deleted', async () => {
    const created = await create(pods, 'bound', { spec, metadata: { finalizers: [finalizer] } });
    const bind = (uid: unknown) =>
      request('POST', `${pods}/bound/binding`, {
        metadata: { name: 'bound', uid },
        target: { kind: 'Node', name: nodeName },
      });
    expect((await failure(bind('other'))).reaction).to.equal('changed');
    await bind(meta(created)['uid']);
    expect((await failure(bind(meta(created)['uid']))).reaction).to.equal('changed');
    expect(asRecord((await request('GET', `${pods}/bound`))['spec'])['nodeName']).to.equal(nodeName);
    await request('PATCH', `${pods}/bound`, { metadata: { finalizers: [] } });
  });

  it('a watch has all changes after its version in order, and DELETED has the last state', async () => {
    const created = await create(configMaps, 'watched');
    const changed = await request('PATCH', `${configMaps}/watched`, { data: { a: '1' } });
    await remove(`${configMaps}/watched`);
    const found = await changes(configMaps, versionOf(created) - 1, 3);
    expect(found.map(({ type }) => type)).to.deep.equal(['ADDED', 'MODIFIED', 'DELETED']);
    expect(found[2]?.object['data']).to.deep.equal({ a: '1' });
    expect(versionOf(found[2]?.object ?? {})).to.be.greaterThan(versionOf(changed));
  });

  it('a watch from a version that the server has forgotten ends with 410', async () => {
    // A real server refuses watches of a new kind with 429 until its cache is filled
    const [first] = await eventually(() => changes('/apis/kubeovn.io/v1/subnets', 1, 1));
    expect([first?.type, first?.object['code']]).to.deep.equal(['ERROR', 410]);
    expect(asText(first?.object['message'])).to.match(/too old resource version: 1 \(\d+\)/);
  });

  it('a list as a stream has each object as ADDED, a bookmark at its end, and then the changes', async () => {
    await create(configMaps, 'streamed');
    const query =
      'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=20';
    const found: string[] = [];
    for await (const line of api.stream(`${configMaps}?${query}`, { silenceMs: 20_000, signal: stop.signal })) {
      const { type, object } = asRecord(line);
      const name = asText(meta(asRecord(object))['name']);
      const isEnd = asRecord(meta(asRecord(object))['annotations'])['k8s.io/initial-events-end'] === 'true';
      if (name === 'streamed') found.push(asText(type));
      if (isEnd) found.push('end');
      if (isEnd) await remove(`${configMaps}/streamed`);
      if (type === 'DELETED') break;
    }
    expect(found).to.deep.equal(['ADDED', 'end', 'DELETED']);
  });

  it('a list in pages is complete, and all pages have one version', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await create(configMaps, name);
    const [names, versions] = [new Set<string>(), new Set<unknown>()];
    let token = '';
    do {
      const page = await request('GET', `${configMaps}?limit=2&continue=${encodeURIComponent(token)}`);
      for (const item of asRecords(page['items'])) names.add(asText(meta(item)['name']));
      versions.add(meta(page)['resourceVersion']);
      token = asText(meta(page)['continue']);
    } while (token !== '');
    expect(['page-1', 'page-2', 'page-3'].every((name) => names.has(name))).to.equal(true);
    expect(versions.size).to.equal(1);
  });

  it('a reader of metadata gets no other fields', async () => {
    await create(configMaps, 'metadata', { data: { a: '1' } });
    const accept = metadataOnly('PartialObjectMetadataList');
    const list = await request('GET', configMaps, undefined, { accept });
    const found = asRecords(list['items']).find((item) => meta(item)['name'] === 'metadata');
    expect(found?.['data']).to.equal(undefined);
    expect(meta(found ?? {})['uid']).to.be.a('string');
  });
}

const meta = (object: UntypedJson): UntypedJson => asRecord(object['metadata']);
