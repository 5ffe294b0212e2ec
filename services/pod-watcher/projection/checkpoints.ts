/**
 * The ledger's signed checkpoints, kept in a ConfigMap: beyond the reach of who can write to the ledger's etcd alone. One entry
 * each, by number of the event; all of the last ones, and of earlier days the last of each.
 */
import { pause, within } from '../../../lib/deadline.ts';
import type { Logger } from '../../../lib/log.ts';
import type { CheckpointReply } from '../../../proto/ipledger.ts';
import { type Api, ApiError, reasonOf } from '../kubernetes/api.ts';
import { create, objectPath, read, replace } from '../kubernetes/patch.ts';
import { type Raw, record, text } from '../../../lib/raw.ts';

export const checkpointsName = 'ipledger-checkpoints';
const verifierAnnotation = 'ipledger.io/verifier-key';
const mostRecent = 100;
/** An object has at most 1 MiB, and a checkpoint less than half a KiB. */
const mostInAll = 1_000;
const timeoutMs = 30_000;

export interface CheckpointsOptions {
  readonly api: Api;
  /** Of the ConfigMap. */
  readonly namespace: string;
  readonly everyMs: number;
  /** Asks the allocator for one. */
  readonly checkpoint: (signal: AbortSignal) => Promise<CheckpointReply>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Goes on until the signal is aborted; what fails is tried again next time. */
export async function keepCheckpoints(options: CheckpointsOptions): Promise<void> {
  const { checkpoint, log, signal, everyMs } = options;
  let told = '';
  while (!signal.aborted) {
    try {
      await keep(options, await checkpoint(signal));
      told = '';
    } catch (error) {
      const reason = reasonOf(error);
      // Said once: an allocator without a key is no trouble.
      if (!signal.aborted && reason !== told) log.info({ reason }, 'no checkpoint is kept');
      told = reason;
    }
    await pause(everyMs, signal);
  }
}

async function keep(
  { api, namespace, signal }: CheckpointsOptions,
  { position, note, verifierKey }: CheckpointReply,
): Promise<void> {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  const path = objectPath(collection, checkpointsName);
  const until = within(timeoutMs, signal);
  const name = String(position?.seq ?? 0).padStart(16, '0');
  const found = await present(api, path, until);
  const entries = record(found?.['data']);
  if (entries[name] !== undefined) return;
  const metadata = record(found?.['metadata']);
  const annotations = { ...record(metadata['annotations']), [verifierAnnotation]: verifierKey };
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: checkpointsName, namespace, annotations },
    data: thinned({ ...entries, [name]: note }),
  };
  await (found ? replace(api, { path, body, signal: until }) : create(api, { path: collection, body, signal: until }));
}

async function present(api: Api, path: string, signal: AbortSignal): Promise<Raw | undefined> {
  try {
    return record(await read(api, path, signal));
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'absent') return undefined;
    throw error;
  }
}

/** All recent ones; before them the last of each day. */
function thinned(entries: Raw): Raw {
  const sorted = Object.entries(entries).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const dayOf = (note: unknown): string => /^time (\S{10})/m.exec(text(note))?.[1] ?? '';
  const kept = sorted.filter(([, note], index) => {
    const next = sorted[index + 1];
    return index >= sorted.length - mostRecent || dayOf(note) !== dayOf(next?.[1]);
  });
  return Object.fromEntries(kept.slice(-mostInAll));
}
