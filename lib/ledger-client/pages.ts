/** Reads lists page by page. */
import { IpledgerError } from '../errors.ts';

const maxPages = 100_000;

/** Yields all pages of a list. @throws IpledgerError OVERLOADED after 100,000 pages */
export async function* readPages<Page extends { readonly nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page> {
  let pageToken = '';
  for (let count = 0; count < maxPages; count++) {
    const page = await read(pageToken);
    yield page;
    pageToken = page.nextPageToken;
    if (pageToken === '') return;
  }
  throw new IpledgerError('OVERLOADED', `the list has more than ${maxPages} pages: narrow the request`);
}

/** Reads all items of a list. @throws as `readPages` */
export async function readAll<Page extends { readonly nextPageToken: string }, Item>(
  read: (pageToken: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of readPages(read)) for (const item of itemsOf(page)) all.push(item);
  return all;
}
