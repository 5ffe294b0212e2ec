/** JSON merge patch (RFC 7396): null removes a key, and absent keys keep their values. */
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';

export function mergePatchOf(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...asRecord(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatchOf(merged[key], value);
  }
  return merged;
}
