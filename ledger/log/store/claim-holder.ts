/** Parses the allocation and the bindings of a stored claim. */
import type { Seq } from '../../domain/values/ledger.ts';
import type { Allocation, Binding } from '../../domain/state/claim.ts';
import { parseCanonicalInstant } from '../chain/instant.ts';

export interface StoredHolder extends Omit<Allocation, 'seq' | 'subnet' | 'at'> {
  readonly at: string;
  /** A field of early versions. Nothing reads it. */
  readonly superseded?: readonly string[];
}

export interface StoredBinding extends Omit<Binding, 'at'> {
  readonly at: string;
}

/** Parses the allocation of event `seq`. @throws TypeError */
export function parseAllocation({ superseded: _, ...holder }: StoredHolder, seq: Seq, subnet: string): Allocation {
  const { attachment, addresses, routes } = holder;
  requireObject(attachment);
  if (!Array.isArray(addresses)) throw new TypeError('"addresses" is not a list');
  for (const each of addresses as readonly unknown[]) requireObject(each);
  return { ...holder, routes: routes.length === 0 ? noRoutes : routes, seq, subnet, at: parseTime(holder.at) };
}

const noRoutes: Allocation['routes'] = [];

/** @throws TypeError */
export function parseBinding(binding: StoredBinding): Binding {
  requireObject(binding.attachment);
  return { ...binding, at: parseTime(binding.at) };
}

function requireObject(value: unknown): void {
  if (typeof value !== 'object' || value === null) throw new TypeError('it is not an object');
}

/** Parses a time as milliseconds since 1970. @throws TypeError */
export function parseTime(text: string): number {
  const at = parseCanonicalInstant(text) ?? Date.parse(text);
  if (Number.isNaN(at)) throw new TypeError(`"${text}" is not a time`);
  return at;
}
