/**
 * Reads a list: as a stream if the API server supports that, else in pages, which become smaller if
 * the objects are large.
 */
import { setImmediate } from 'node:timers/promises';
import { asRecord, asText } from '../untyped-json.ts';
import { ApiError, watchErrorOf } from './api-error.ts';
import type { Api } from './kubernetes-api.ts';

export interface ListPage {
  /** The version of the list, the same on all pages; "" if absent. */
  readonly resourceVersion: string;
  readonly items: readonly unknown[];
}

export interface ListOptions {
  /** The number of objects in a page. */
  readonly pageSize: number;
  /** The time limit of each page. */
  readonly timeoutMs: number;
  /** The header, as in ApiRequest. */
  readonly accept?: string;
  readonly compressed?: boolean;
  readonly signal: AbortSignal;
}

const maxPages = 10_000;
/** The time after which the API server ends a stream. */
const streamSeconds = 600;
const endOfInitialEvents = 'k8s.io/initial-events-end';

/** The media type that makes the API server return only metadata. */
export const metadataOnly = (type: 'PartialObjectMetadata' | 'PartialObjectMetadataList'): string =>
  `application/json;as=${type};g=meta.k8s.io;v=v1`;

/**
 * Passes all objects of a collection to `visit`, and returns the version of the list. A stream may
 * contain an object twice if it changes at the same time, or contain a deleted object. A watch from
 * the returned version, or from an earlier one, corrects that.
 * @throws as `listPages`; ApiError if a stream ends before the list is complete
 */
export async function listObjects(
  api: Api,
  path: string,
  { mayStream, isMetadata, ...options }: ListOptions & { readonly mayStream: boolean; readonly isMetadata: boolean },
  visit: (object: unknown) => void,
): Promise<string> {
  if (mayStream) {
    try {
      const accept = isMetadata && { accept: metadataOnly('PartialObjectMetadata') };
      return await streamObjects(api, path, { ...options, ...accept }, visit);
    } catch (error) {
      if (!(error instanceof ApiError && error.reaction === 'invalid')) throw error;
      // Falls back to pages: the API server is too old for streams, or they are switched off.
    }
  }
  const accept = isMetadata && { accept: metadataOnly('PartialObjectMetadataList') };
  let version = '';
  for await (const page of listPages(api, path, { ...options, ...accept, compressed: true })) {
    if (page.resourceVersion === '') throw new Error(`the list of ${path} has no resourceVersion`);
    page.items.forEach(visit);
    version = page.resourceVersion;
  }
  return version;
}

/**
 * Reads the objects one by one, as the first events of a watch, so that neither side has the whole
 * list in memory.
 */
async function streamObjects(
  api: Api,
  path: string,
  { timeoutMs: silenceMs, signal, accept }: Omit<ListOptions, 'pageSize'>,
  visit: (object: unknown) => void,
): Promise<string> {
  const query = new URLSearchParams({
    watch: 'true',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(streamSeconds),
  });
  const options = { silenceMs, signal, ...(accept !== undefined && { accept }) };
  for await (const event of api.stream(`${path}?${query}`, options)) {
    const { type, object } = asRecord(event);
    if (type === 'ERROR') throw watchErrorOf(object, path);
    const { annotations, resourceVersion } = asRecord(asRecord(object)['metadata']);
    if (type === 'ADDED' || type === 'MODIFIED') visit(object);
    else if (type === 'BOOKMARK' && asRecord(annotations)[endOfInitialEvents] === 'true')
      return asText(resourceVersion);
  }
  throw new ApiError(0, `the stream of ${path} has ended before the list`);
}

/**
 * Yields all pages of a collection. If a page is too large, it and all following pages have half as
 * many objects. The API server prepares a page while the caller processes the page before.
 * @throws ApiError; Error for a response that is not a list: no caller may take missing objects for
 * deleted ones
 */
export async function* listPages(api: Api, path: string, options: ListOptions): AsyncGenerator<ListPage> {
  let limit = options.pageSize;
  let token = '';
  const request = () => readPage(api, path, { ...options, limit, token });
  let requested = request();
  for (let requests = 1; requests <= maxPages; requests++) {
    const page = await requested.catch((error: unknown) => {
      if (limit > 1 && error instanceof ApiError && error.isTooLarge) return undefined;
      throw error;
    });
    if (page) token = page.nextToken;
    else limit = Math.floor(limit / 2);
    const isLast = page !== undefined && token === '';
    if (!isLast) {
      requested = request();
      requested.catch(() => undefined); // if the caller continues, the await above throws the error
    }
    if (!page) continue;
    if (!isLast) await setImmediate(); // the request is only sent after a turn of the event loop
    yield page;
    if (isLast) return;
  }
  throw new Error(`a list of more than ${maxPages} pages`);
}

/** Reads the version of a collection. @throws ApiError; Error for a response without version */
export async function readListVersion(api: Api, path: string, options: Omit<ListOptions, 'pageSize'>): Promise<string> {
  const { resourceVersion } = await readPage(api, path, { ...options, limit: 1, token: '' });
  if (resourceVersion === '') throw new Error(`the list of ${path} has no resourceVersion`);
  return resourceVersion;
}

async function readPage(
  api: Api,
  path: string,
  { limit, token, ...options }: Omit<ListOptions, 'pageSize'> & { limit: number; token: string },
): Promise<ListPage & { readonly nextToken: string }> {
  const query = new URLSearchParams({ limit: String(limit), ...(token !== '' && { continue: token }) });
  const response = asRecord(
    await api.request({ method: 'GET', path: `${path}${path.includes('?') ? '&' : '?'}${query}`, ...options }),
  );
  // The items of an empty PartialObjectMetadataList are null.
  const items = response['items'] === null && asText(response['kind']).endsWith('List') ? [] : response['items'];
  const metadata = asRecord(response['metadata']);
  if (!Array.isArray(items)) throw new Error(`the response to GET ${path} is no list: it has no items`);
  return {
    resourceVersion: asText(metadata['resourceVersion']),
    items: items as unknown[],
    nextToken: asText(metadata['continue']),
  };
}
