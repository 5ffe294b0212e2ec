/** The metadata that every object has, and the conditions in its status. */
import { asText, type UntypedJson, asRecord, asRecords } from './untyped-json.ts';
import type { ObjectMeta } from './client/informer.ts';
import { truncate } from './limit-messages.ts';

/** @throws Error for an object without name or uid */
export function objectMetaOf(metadata: UntypedJson): ObjectMeta {
  const [name, uid] = [asText(metadata['name']), asText(metadata['uid'])];
  if (name === '' || uid === '')
    throw new Error(`an object without name or uid: name ${truncate(name)}, uid ${truncate(uid)}`);
  return { namespace: asText(metadata['namespace']), name, uid, resourceVersion: asText(metadata['resourceVersion']) };
}

/** Returns the condition of a type; {} if there is none. */
export const conditionOf = (status: UntypedJson, type: string): UntypedJson =>
  asRecords(status['conditions']).find((condition) => condition['type'] === type) ?? {};

export const isReady = (object: UntypedJson): boolean =>
  conditionOf(asRecord(object['status']), 'Ready')['status'] === 'True';
