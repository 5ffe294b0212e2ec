/** Reads a list in pages, in smaller ones where the objects are large. */
import { setImmediate } from 'node:timers/promises';
import { asRecord, asText } from '../untyped-json.ts';
import { ApiError } from './api-error.ts';
import type { Api } from './kubernetes-api.ts';

export interface ListPage {
  /** The version of the list, the same on all its pages; "" if absent. */
  readonly resourceVersion: string;
  readonly items: readonly unknown[];
}

export interface ListOptions {
  /** Objects in a page. */
  readonly pageSize: number;
  /** For each page. */
  readonly timeoutMs: number;
  /** The same as in ApiRequest. */
  readonly accept?: string;
  readonly signal: AbortSignal;
}

const maxPages = 10_000;

/**
 * Yields all pages of a collection. When a page is too large, this and the following pages have half as many objects. The API server
 * prepares a page while the caller processes the one before it.
 * @throws ApiError; Error for a response that is no list, so that no caller takes missing objects for deleted ones
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
      requested.catch(() => undefined); // the await above throws it, if the caller continues
    }
    if (!page) continue;
    if (!isLast) await setImmediate(); // the request is only sent after a turn of the event loop
    yield page;
    if (isLast) return;
  }
  throw new Error(`a list of more than ${maxPages} pages`);
}

/** The current version of a collection. @throws ApiError; Error for a response that is no list or has no version */
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
  const response = asRecord(await api.request({ method: 'GET', path: `${path}?${query}`, ...options }));
  // An empty PartialObjectMetadataList has null.
  const items = response['items'] === null && asText(response['kind']).endsWith('List') ? [] : response['items'];
  const metadata = asRecord(response['metadata']);
  if (!Array.isArray(items)) throw new Error(`the response to GET ${path} is no list: it has no items`);
  return {
    resourceVersion: asText(metadata['resourceVersion']),
    items: items as unknown[],
    nextToken: asText(metadata['continue']),
  };
}
