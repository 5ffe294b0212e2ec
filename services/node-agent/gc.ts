/** CNI GC: the runtime says which containers of a network it has; what else this node has bound of it is bound to nobody. */
import { within } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Allocator } from './allocator.ts';
import type { Asked } from './asked.ts';
import type { BindingFiles } from './binding-files.ts';
import { bindingsOf, endBindings, turnOf } from './bindings.ts';
import type { TakeTurn } from './turns.ts';

// The plugin gives up after 30 s.
const gcMs = 25_000;

export interface GcDeps {
  readonly allocator: Allocator;
  readonly node: string;
  readonly inTurn: TakeTurn;
  readonly log: Logger;
}

export interface CollectDeps extends GcDeps {
  readonly files: BindingFiles;
}

/**
 * Ends bindings of this node and provider alone, and releases nothing: an address goes with its Pod. A runtime must not ADD
 * meanwhile (CNI specification 1.1, section 3, "Lifecycle & Ordering").
 * @throws IpledgerError when some could not be ended; all others are
 */
export async function gc(
  { allocator, node, inTurn, files, log }: CollectDeps,
  { provider, valid }: Extract<Asked, { verb: 'gc' }>,
  callerSignal: AbortSignal,
): Promise<void> {
  const signal = within(gcMs, callerSignal);
  const known = new Set(valid.map(turnOf));
  // First, so that no binding that ends here is bound again.
  for (const kept of files.all()) if (kept.provider === provider && !known.has(turnOf(kept))) await files.drop(kept);
  const here = await bindingsOf(node, allocator, signal);
  const stale = here.filter(
    ({ attachment, binding }) => attachment.provider === provider && !known.has(turnOf(binding)),
  );
  const cause = 'UNBIND_CAUSE_GARBAGE_COLLECTED';
  const [first, ...others] = await endBindings(stale, { allocator, inTurn, cause, isStale: () => true }, signal);
  log.info({ provider, node, stale: stale.length, valid: valid.length }, 'gc: ended what no container has any more');
  if (first)
    throw new IpledgerError(
      first.code,
      `${others.length + 1} of ${stale.length} stale bindings of provider ${provider} could not be ended: ${first.message}`,
      { cause: first },
    );
}
