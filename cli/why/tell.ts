/** A Pod's story in words: what it waits for, then what happened, Pod by Pod, the latest first. */
import type { Event } from '../../proto/ipledger.ts';
import { causeText } from '../cause.ts';
import { join, short } from '../event.ts';
import { printable } from '../printable.ts';
import type { PodInCluster } from './cluster.ts';
import type { Life } from './story.ts';
import { verdict } from './verdict.ts';

export interface Told {
  readonly name: string;
  readonly lives: readonly Life[];
  readonly pod: PodInCluster | null | undefined;
}

/** How an instant is shown. */
type When = (instant: string) => string;

/** All of it, ending in a newline. */
export function tell({ name, lives, pod }: Told, when: When): string {
  const [life] = lives;
  const blocks = [
    [name, ...verdict({ life, pod }).map((said) => `  ${printable(said)}`)],
    ...(pod ? [inCluster(pod, when)] : []),
    ...lives.map((each) => [headOf(each), ...each.events.map((event) => lineOf(event, when))]),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function inCluster({ uid, node, phase, waiting, createdAt, deletedAt, events }: PodInCluster, when: When): string[] {
  const state = join(', ', phase, ...waiting, node === '' ? 'not scheduled' : `on node ${node}`);
  const times = join(
    ', ',
    `created ${when(createdAt)}`,
    deletedAt === '' ? '' : `being deleted since ${when(deletedAt)}`,
  );
  return [
    `in the cluster (uid ${uid})`,
    `  ${join(', ', state, times)}`,
    ...events.map(({ at, reason, message }) => `  ${when(at)}  Event ${reason}: ${printable(message)}`),
  ];
}

const headOf = ({ uid, owner }: Life): string =>
  `in the ledger (uid ${join(', ', uid || 'not known', owner ? `of ${owner.kind}/${owner.name}` : '')})`;

const lineOf = (event: Event, when: When): string =>
  `  ${when(event.at)}  ${printable(sentence(event))}  (event ${event.seq})`;

/** What happened to the Pod. */
function sentence(event: Event): string {
  const { addressAllocated, addressTransferred, addressReleased, addressBound, addressUnbound, allocationRefused } =
    event;
  const addresses = event.before.map(({ address }) => address).join(' and ');
  if (allocationRefused)
    return `asked for an address for ${allocationRefused.attachment?.provider ?? ''}, and was refused: ${allocationRefused.message}`;
  if (addressAllocated) {
    const { attachment, cause, node } = addressAllocated;
    const where = node === '' ? '' : ` on node ${node}`;
    return `was given ${addresses} of subnet ${event.subnet} for ${attachment?.provider ?? ''}${where} (${causeText(cause)})`;
  }
  if (addressTransferred)
    return `took ${addresses} of subnet ${event.subnet} over from uid ${addressTransferred.fromUid}`;
  if (addressBound) {
    const { containerId, interface: name, node } = addressBound;
    return `container ${short(containerId)} on node ${node} was set up with ${addresses} as ${name}`;
  }
  if (addressUnbound)
    return `container ${short(addressUnbound.containerId)} was told to let go of ${addresses} (${causeText(addressUnbound.cause)})`;
  if (addressReleased)
    return `lost ${addresses}: ${join(': ', causeText(addressReleased.cause), addressReleased.evidence)}`;
  return event.type;
}
