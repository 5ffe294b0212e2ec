/** The bindings that the ledger has for this node, and the end of those whose containers are gone. */
import { IpledgerError } from '../../lib/errors.ts';
import type { Binding, SandboxBinding, UnbindCause } from '../../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import type { Attached } from './asked.ts';
import { createGate } from './gate.ts';
import { patience, persistently } from './patience.ts';
import type { TakeTurn } from './turns.ts';

const pageSize = 500;
const mostPages = 200;
const pageMs = 6_000;
const unbindMs = 6_000;
const attemptMs = 2_000;
const unbindsAtOnce = 16;

/** What is done one at a time. */
export const turnOf = ({ containerId, interface: name }: Attached): string => `${containerId} ${name}`;

export interface BoundHere {
  readonly attachment: { readonly namespace: string; readonly pod: string; readonly provider: string };
  readonly binding: Binding;
}

/**
 * All of them.
 * @throws IpledgerError when the allocator can't say
 */
export async function bindingsOf(node: string, allocator: Allocator, signal: AbortSignal): Promise<BoundHere[]> {
  const bound: BoundHere[] = [];
  let pageToken = '';
  for (let page = 0; page < mostPages; page++) {
    const request = { node, pageSize, pageToken };
    const { bindings, nextPageToken } = await persistently(patience(pageMs, signal), (leftMs) =>
      allocator.listBindings(request, { timeoutMs: Math.min(leftMs, attemptMs), signal }),
    );
    bound.push(...bindings.filter(isWhole));
    if (nextPageToken === '') return bound;
    pageToken = nextPageToken;
  }
  throw new IpledgerError('BUG', `node ${node} has more than ${mostPages * pageSize} bindings`);
}

const isWhole = (bound: SandboxBinding): bound is SandboxBinding & BoundHere =>
  bound.attachment !== undefined && bound.binding !== undefined;

export interface Ending {
  readonly allocator: Allocator;
  readonly inTurn: TakeTurn;
  readonly cause: UnbindCause;
  /** Asked when its turn has come. */
  readonly isStale: (bound: BoundHere) => boolean;
}

/** Ends bindings, each in its container's turn, as many as can be ended; resolves to the errors of those that could not. */
export async function endBindings(
  stale: readonly BoundHere[],
  { allocator, inTurn, cause, isStale }: Ending,
  signal: AbortSignal,
): Promise<IpledgerError[]> {
  const gate = createGate(unbindsAtOnce, stale.length);
  const ends = stale.map((bound) =>
    gate(signal, () =>
      inTurn(turnOf(bound.binding), signal, async () => {
        if (!isStale(bound)) return;
        const { namespace, pod, provider } = bound.attachment;
        const { containerId, interface: name } = bound.binding;
        await persistently(patience(unbindMs, signal), (leftMs) =>
          allocator.unbind(
            { namespace, pod, provider, containerId, interface: name, cause },
            { timeoutMs: Math.min(leftMs, attemptMs), signal },
          ),
        );
      }),
    ),
  );
  const outcomes = await Promise.allSettled(ends);
  return outcomes.flatMap((end) => (end.status === 'rejected' ? IpledgerError.from(end.reason) : []));
}
