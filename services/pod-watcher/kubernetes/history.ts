/**
 * What the API server still remembers to have happened while nobody watched: minutes as a rule, since it keeps the latest
 * changes of each kind in memory. So a deletion that no watcher saw need not be inferred from an absence.
 */
import { pause } from '../../../lib/deadline.ts';
import { type Raw, record, text } from '../../../lib/raw.ts';
import { type Api, ApiError } from './api.ts';
import { type Kind, type Named, refusalOf } from './list-watch.ts';

/**
 * The server ends each stream after so long. All that it remembers was told when it sends a bookmark, as it does shortly before the
 * end where more has happened since; or when there is nothing in a stream.
 */
const tellSeconds = 5;
const silenceMs = 20_000;
/** One that is too busy to tell all in that time is asked to go on, for a minute. */
const mostStreams = 12;
const againMs = 250;

/**
 * The objects that were deleted since a version of the API server, as they were last, in order. Where it does not remember that
 * far: those since the earliest version that it does remember.
 * @throws ApiError from the iteration; 410 when the server does not say how far it remembers.
 */
export async function* deletedSince<T extends Named>(
  api: Api,
  kind: Kind<T>,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): AsyncGenerator<T> {
  let from = version;
  for (let streams = 1; streams <= mostStreams && !signal.aborted; streams++) {
    const before = from;
    try {
      for await (const { type, object } of changesSince(api, kind, from, signal)) {
        if (type === 'BOOKMARK') return;
        if (type === 'DELETED') yield kind.parse(object);
        from = text(record(record(object)['metadata'])['resourceVersion']) || from;
      }
      if (from === before) return;
    } catch (error) {
      const next = goOnAfter(error, from);
      if (next === undefined || streams === mostStreams) throw error;
      from = next;
      await pause(againMs, signal);
    }
  }
}

async function* changesSince(
  api: Api,
  { path }: Pick<Kind<Named>, 'path'>,
  version: string,
  signal: AbortSignal,
): AsyncGenerator<Raw> {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: version,
    timeoutSeconds: String(tellSeconds),
  });
  for await (const line of api.stream(`${path}?${query}`, { silenceMs, signal })) {
    const change = record(line);
    if (change['type'] === 'ERROR') throw refusalOf(change['object'], path);
    yield change;
  }
}

/** From which version to ask again; undefined where that would change nothing. */
function goOnAfter(error: unknown, from: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  // kube-apiserver has no other sign of how far it remembers than its sentence.
  if (error.status === 410) return /too old resource version: \d+ \((\d+)\)/.exec(error.message)?.[1];
  return error.reaction === 'later' ? from : undefined;
}
