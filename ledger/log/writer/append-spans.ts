/** The spans of one append: one span for each traced request, as a child of its call. */
import type { Span } from '../../../lib/tracing/span.ts';
import type { AppendOutcome } from '../store/ledger.ts';
import type { BatchBuilder } from './batch.ts';
import type { DecidedRequest } from '../pending-request.ts';

/** Starts the spans. Returns undefined if no traced request in the batch has events. */
export function startAppendSpans(decided: readonly DecidedRequest[]): readonly Span[] | undefined {
  let spans: Span[] | undefined;
  for (const { queued, writes } of decided)
    if (writes && queued.request.span) (spans ??= []).push(queued.request.span.child('append', { kind: 'client' }));
  return spans;
}

export function endAppendSpans(spans: readonly Span[], { events, head }: BatchBuilder, { kind }: AppendOutcome): void {
  for (const span of spans) {
    span.set({ 'db.system': 'etcd', 'ipledger.batch_events': events.length, 'ipledger.head_seq': head.seq });
    span.end(kind === 'appended' ? undefined : kind);
  }
}
