/** Lists that come in pages. */
import { Failure } from './failure.ts';

const pagesMost = 10_000;

/** Every page of a list, in turn; each names the next by a token. @throws Failure for a list that has no end. */
export async function* everyPage<Page extends { readonly nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page> {
  let pageToken = '';
  for (let count = 0; count < pagesMost; count++) {
    const page = await read(pageToken);
    yield page;
    pageToken = page.nextPageToken;
    if (pageToken === '') return;
  }
  throw new Failure('refused', `more than ${pagesMost} pages: ask for less`);
}
