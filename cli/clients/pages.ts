/** Reads lists page by page. */
import { CliError } from '../program/cli-error.ts';

const maxPages = 10_000;

/** All pages of a list, in order. Each page holds the token of the next. @throws CliError after 10,000 pages. */
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
  throw new CliError('refused', `the list has more than ${maxPages} pages: narrow the request`);
}
