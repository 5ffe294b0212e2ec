/** Stores a Pod as a record of its own values, with a shared object of what Pods have in common. */
import { SharedValues } from '../../shared-values.ts';
import type { RecordFormat } from '../compact-objects.ts';
import { isUniquePerPod, type Pod } from './pod.ts';

/** The record. A decimal version is a number. The values of unique annotations come last. */
type PodRecord = readonly [
  common: Pod,
  uid: string,
  version: string | number,
  createdAt: string,
  node: string,
  controller: Pod['controller'],
  ...annotations: string[],
];

/** The shared objects. Tenants choose annotations, so the pool starts again when it is full. */
const commons = new SharedValues<Pod>(2_048);
const maxKeyLength = 2_048;

export const podRecords: RecordFormat<Pod, Pod | PodRecord> = {
  store(pod) {
    const { name, uid, resourceVersion, createdAt, node, controller } = pod;
    if (pod.ledgerName !== name || pod.ledgerUid !== uid || pod.assertedMachine) return pod;
    const own = Object.entries(pod.annotations).filter(([key]) => isUniquePerPod(key));
    const annotations = { ...pod.annotations, ...Object.fromEntries(own.map(([key]) => [key, ''])) };
    const common = { ...pod, ...nothingOwn, annotations };
    const key = JSON.stringify(Object.values(common));
    if (key.length > maxKeyLength) return pod;
    const record: PodRecord = [
      commons.share(key, common),
      uid,
      compactVersion(resourceVersion),
      createdAt,
      node,
      controller,
    ];
    return record.concat(own.map(([, value]) => value)) as unknown as PodRecord;
  },

  restore(stored, name) {
    if (!isRecord(stored)) return stored;
    const [common, uid, version, createdAt, node, controller, ...own] = stored;
    const annotations = { ...common.annotations };
    let next = 0;
    for (const key of Object.keys(annotations)) if (isUniquePerPod(key)) annotations[key] = own[next++] ?? '';
    const identity = { name, uid, ledgerName: name, ledgerUid: uid, resourceVersion: String(version) };
    return { ...common, ...identity, createdAt, node, controller, annotations };
  },
};

const nothingOwn = {
  name: '',
  uid: '',
  resourceVersion: '',
  ledgerName: '',
  ledgerUid: '',
  createdAt: '',
  node: '',
  controller: undefined,
} satisfies Partial<Pod>;

const isRecord = (stored: Pod | PodRecord): stored is PodRecord => Array.isArray(stored);

function compactVersion(text: string): string | number {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
}
