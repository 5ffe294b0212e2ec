/** The rule for events that name an allocation: the attachment must hold that allocation. */
import { allocationOf, type State } from '../state/state.ts';
import type { Seq } from '../values/ledger.ts';
import type { Attachment } from '../values/allocation.ts';

/** Names an attachment in a verification finding. */
export const formatAttachment = ({ namespace, pod, provider, ordinal }: Attachment): string =>
  `attachment ${provider}/${ordinal} of Pod ${namespace}/${pod}`;

interface NamedAllocation {
  readonly attachment: Attachment;
  readonly alloc: Seq;
  readonly uid: string;
}

/** How the event breaks the rule; undefined if it does not. `does` is the verb of the event. */
export function brokenHolding(
  state: State,
  { attachment, alloc, uid }: NamedAllocation,
  does: string,
): string | undefined {
  const held = allocationOf(state, attachment);
  if (held?.seq === alloc && held.uid === uid) return undefined;
  const holds = held ? `the allocation of event ${held.seq} to uid ${held.uid}` : 'nothing';
  return `${does} the allocation of event ${alloc} to uid ${uid} for ${formatAttachment(attachment)}, which holds ${holds}`;
}
