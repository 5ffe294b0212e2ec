/** The metadata that every object has. */
import { asText, type UntypedJson } from './untyped-json.ts';
import type { ObjectMeta } from './client/informer.ts';

/** @throws Error for an object without name or uid */
export function objectMetaOf(metadata: UntypedJson): ObjectMeta {
  const [name, uid] = [asText(metadata['name']), asText(metadata['uid'])];
  if (name === '' || uid === '')
    throw new Error(`an object without name or uid: ${JSON.stringify(metadata).slice(0, 200)}`);
  return { namespace: asText(metadata['namespace']), name, uid, resourceVersion: asText(metadata['resourceVersion']) };
}
