/**
 * Reads the deletions that happened while no watcher ran from the API server's watch cache, which
 * usually has some minutes. So the watcher need not infer a deletion from the absence of an object.
 */
import { pause } from '../../../../lib/process/abortable.ts';
import { type UntypedJson, asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import type { Api } from '../../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError, watchErrorOf } from '../../../../lib/kubernetes/client/api-error.ts';
import type { ResourceKind, ObjectMeta } from '../../../../lib/kubernetes/client/informer.ts';

/**
 * The duration after which the server ends each stream. The history is complete when the server
 * sends a bookmark, or when a stream has no changes. If there are newer changes, the server sends a
 * bookmark shortly before the end of the stream.
 */
const streamSeconds = 5;
const silenceMs = 20_000;
/** The number of streams to read, if a slow server cannot send the history in one stream. */
const maxStreams = 12;
const retryMs = 250;

/**
 * Yields the last state of each object deleted since a version, in order. If the history does not
 * reach back to that version, starts at the earliest version available.
 * @throws ApiError from the iteration; 410 when the server does not report its earliest version
 */
export async function* deletedSince<T extends ObjectMeta>(
  api: Api,
  kind: ResourceKind<T>,
  { version, signal }: { readonly version: string; readonly signal: AbortSignal },
): AsyncGenerator<T> {
  let from = version;
  for (let streams = 1; streams <= maxStreams && !signal.aborted; streams++) {
    const before = from;
    try {
      for await (const { type, object } of changesSince(api, kind, from, signal)) {
        if (type === 'BOOKMARK') return;
        if (type === 'DELETED') yield kind.parse(object);
        from = asText(asRecord(asRecord(object)['metadata'])['resourceVersion']) || from;
      }
      if (from === before) return;
    } catch (error) {
      const next = versionAfterError(error, from);
      if (next === undefined || streams === maxStreams) throw error;
      from = next;
      await pause(retryMs, signal);
    }
  }
}

async function* changesSince(
  api: Api,
  { path }: Pick<ResourceKind<ObjectMeta>, 'path'>,
  version: string,
  signal: AbortSignal,
): AsyncGenerator<UntypedJson> {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: version,
    timeoutSeconds: String(streamSeconds),
  });
  for await (const line of api.stream(`${path}?${query}`, { silenceMs, signal })) {
    const change = asRecord(line);
    if (change['type'] === 'ERROR') throw watchErrorOf(change['object'], path);
    yield change;
  }
}

/** Returns the version from which to retry; undefined where a retry would fail, too. */
function versionAfterError(error: unknown, from: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  // Reads the earliest version from the message, the only place where kube-apiserver reports it.
  if (error.status === 410) return /too old resource version: \d+ \((\d+)\)/.exec(error.message)?.[1];
  return error.reaction === 'later' ? from : undefined;
}
