/**
 * Stores the ledger's signed checkpoints in a ConfigMap, where a writer of the ledger's etcd cannot
 * change them. Each checkpoint is one entry, named by its event number. The ConfigMap keeps the
 * latest checkpoints, and the last one of each earlier day.
 */
import { errorMessage } from '../../../lib/errors.ts';
import { pause, timeoutSignal } from '../../../lib/process/abortable.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type CheckpointReply, LedgerService } from '../../../proto/generated/ipledger.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { createObject, objectPath, readObject, replaceObject } from '../../../lib/kubernetes/client/object-requests.ts';
import { type UntypedJson, asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';

const checkpointConfigMapName = 'ipledger-checkpoints';
const verifierAnnotation = 'ipledger.io/verifier-key';
const maxRecent = 100;
/** The number of entries: an object has at most 1 MiB, and a checkpoint less than half a KiB. */
const maxEntries = 1_000;
const timeoutMs = 30_000;

export interface CheckpointStoreOptions {
  readonly api: Api;
  /** The namespace of the ConfigMap. */
  readonly namespace: string;
  readonly intervalMs: number;
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Stores a checkpoint at each interval until an abort. Continues after a failure. */
export async function storeCheckpoints(options: CheckpointStoreOptions): Promise<void> {
  const { allocator, log, signal, intervalMs } = options;
  let loggedReason = '';
  let last: StoredCheckpoint | undefined;
  while (!signal.aborted) {
    try {
      last = await store(options, await allocator.call(LedgerService.checkpoint, {}, signal), last);
      loggedReason = '';
    } catch (error) {
      const reason = errorMessage(error);
      // Logs a reason once: an allocator may run without a checkpoint key.
      if (!signal.aborted && reason !== loggedReason) log.info({ reason }, 'checkpoint not stored');
      loggedReason = reason;
    }
    await pause(intervalMs, signal);
  }
}

/** An entry of the ConfigMap. */
interface StoredCheckpoint {
  readonly name: string;
  readonly note: string;
}

/**
 * Stores a checkpoint.
 * @param last the checkpoint that this pod-watcher stored last, which is always kept. A ConfigMap
 * without it was changed by another program, and later checkpoints prove nothing about the time
 * before.
 */
async function store(
  { api, namespace, log, signal }: CheckpointStoreOptions,
  { position, note, verifierKey }: CheckpointReply,
  last: StoredCheckpoint | undefined,
): Promise<StoredCheckpoint> {
  const collection = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
  const path = objectPath(collection, checkpointConfigMapName);
  const deadline = timeoutSignal(timeoutMs, signal);
  const name = String(position?.seq ?? 0).padStart(16, '0');
  const configMap = await readConfigMap(api, path, deadline);
  const entries = asRecord(configMap?.['data']);
  if (last && entries[last.name] !== last.note)
    log.error(
      { configMap: `${namespace}/${checkpointConfigMapName}`, checkpoint: last.name },
      'another program removed or changed checkpoints in the ConfigMap: verify the ledger with a copy of them, by ipledger verify --checkpoint',
    );
  if (entries[name] === note) return { name, note };
  const metadata = asRecord(configMap?.['metadata']);
  const annotations = { ...asRecord(metadata['annotations']), [verifierAnnotation]: verifierKey };
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: checkpointConfigMapName, namespace, annotations },
    data: removeOldEntries({ ...entries, [name]: note }),
  };
  await (configMap
    ? replaceObject(api, { path, body, signal: deadline })
    : createObject(api, { path: collection, body, signal: deadline }));
  return { name, note };
}

async function readConfigMap(api: Api, path: string, signal: AbortSignal): Promise<UntypedJson | undefined> {
  try {
    return asRecord(await readObject(api, path, signal));
  } catch (error) {
    if (error instanceof ApiError && error.reaction === 'absent') return undefined;
    throw error;
  }
}

/** Keeps the recent entries, and the last one of each day before them. */
function removeOldEntries(entries: UntypedJson): UntypedJson {
  const sorted = Object.entries(entries).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const dayOf = (note: unknown): string => /^time (\S{10})/m.exec(asText(note))?.[1] ?? '';
  const kept = sorted.filter(([, note], index) => {
    const next = sorted[index + 1];
    return index >= sorted.length - maxRecent || dayOf(note) !== dayOf(next?.[1]);
  });
  return Object.fromEntries(kept.slice(-maxEntries));
}
