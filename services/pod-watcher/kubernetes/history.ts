/**
 * What the API server still remembers to have happened while nobody watched: minutes as a rule, since it keeps the latest
 * changes of each kind in memory. So a deletion that no watcher saw need not be inferred from an absence.
 */
import type { Api } from './api.ts';
import { type Kind, type Named, refusalOf } from './list-watch.ts';
import { record } from '../../../lib/raw.ts';

/** The server ends the stream after so long; what it remembers it tells at once. */
const tellSeconds = 5;
const silenceMs = 10_000;

/**
 * The objects that were deleted since a version of the API server, as they were last, in order.
 * @throws ApiError from the iteration; 410 when the server does not remember that far.
 */
export async function* deletedSince<T extends Named>(
  api: Api,
  kind: Kind<T>,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): AsyncGenerator<T> {
  const query = new URLSearchParams({
    watch: 'true',
    resourceVersion: version,
    timeoutSeconds: String(tellSeconds),
  });
  for await (const event of api.stream(`${kind.path}?${query}`, { silenceMs, signal })) {
    const { type, object } = record(event);
    if (type === 'ERROR') throw refusalOf(object, kind.path);
    if (type === 'DELETED') yield kind.parse(object);
  }
}
