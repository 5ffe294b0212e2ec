/** Parses the allocation and the bindings of a stored claim. */
import type { Seq } from '../../domain/values/ledger.ts';
import type { Allocation, Binding } from '../../domain/state/claim.ts';
import { attachmentShape, grantShape } from '../chain/event-shapes.ts';
import { parseCanonicalInstant } from '../chain/instant.ts';
import type { Shape } from '../chain/shape.ts';

export interface StoredHolder extends Omit<Allocation, 'seq' | 'subnet' | 'at'> {
  readonly at: string;
  /** A field of early versions. Nothing reads it. */
  readonly superseded?: readonly string[];
}

export interface StoredBinding extends Omit<Binding, 'at'> {
  readonly at: string;
}

/** The form of the holder of a claim, and of each binding. */
export const holderShape: Shape<StoredHolder> = { ...grantShape, at: 'text', superseded: { optional: ['text'] } };
export const bindingShape: Shape<StoredBinding> = {
  alloc: 'number',
  attachment: attachmentShape,
  containerId: 'text',
  interface: 'text',
  node: 'text',
  bootId: 'text',
  at: 'text',
  mac: { optional: 'text' },
};

/** Parses the allocation of event `seq`. @throws TypeError for a time that is none */
export function parseAllocation({ superseded: _, ...holder }: StoredHolder, seq: Seq, subnet: string): Allocation {
  const { routes } = holder;
  return { ...holder, routes: routes.length === 0 ? noRoutes : routes, seq, subnet, at: parseTime(holder.at) };
}

const noRoutes: Allocation['routes'] = [];

/** Parses a binding. @throws TypeError for a time that is none */
export const parseBinding = (binding: StoredBinding): Binding => ({ ...binding, at: parseTime(binding.at) });

/** Parses a time as milliseconds since 1970. @throws TypeError */
export function parseTime(text: string): number {
  const at = parseCanonicalInstant(text) ?? Date.parse(text);
  if (Number.isNaN(at)) throw new TypeError(`"${text}" is not a time`);
  return at;
}
