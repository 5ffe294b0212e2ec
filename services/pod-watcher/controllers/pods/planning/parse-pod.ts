/** Stage 1 of planning: parses network selections, and matches held attachments. Pure. */
import type { Controller } from '../../../../../lib/kubernetes/pod-identity.ts';
import { ovn4nfvProvider } from '../../../../../lib/kubernetes/served-network.ts';
import { isLauncher } from '../../../kubernetes/launcher-verifier.ts';
import {
  hasAllocatedAnnotation,
  networksAnnotationOf,
  type Pod,
  vipAnnotation,
} from '../../../kubernetes/objects/pod.ts';
import { type Ovn4nfvRequest, parseOvn4nfvRequest } from '../../../../../lib/ovn4nfv/request.ts';
import { limitExceeded, podLimits } from '../../../limits.ts';
import { primaryProvider } from '../../subnets/subnet-cache.ts';
import { PodAnnotations } from './attachment-annotations.ts';
import { type HeldAttachment, matchHeldAttachments } from './attachment-matching.ts';
import { networkKey, type NetworkSelection, parseNetworkSelections } from './network-selections.ts';
import { ok, type Result } from '../../../../../lib/result.ts';
import { clusterProblem, type PlanProblem, requestProblem } from './unserved-requests.ts';

/** A network that a Pod selects without having an attachment to it. */
export interface SelectedAttachment {
  readonly selection: NetworkSelection;
  /** The number of the attachment among the Pod's attachments to this network, from 0. */
  readonly ordinal: number;
  /** Whether the Pod selects the network more than once. */
  readonly isRepeated: boolean;
}

/** A Pod without raw annotations: later stages read `ParsedPod.annotations`. */
export type PlannedPod = Omit<Pod, 'annotations'>;

export interface ParsedPod<H extends HeldAttachment = HeldAttachment> {
  readonly pod: PlannedPod;
  /** The annotations of the Pod's attachments. */
  readonly annotations: PodAnnotations;
  /** The key of the annotation that selects its networks. */
  readonly networksKey: string;
  /** Whether that annotation is set. */
  readonly selectsNetworks: boolean;
  /** The Vip that the Pod names; "" if it names none. */
  readonly vip: string;
  readonly attachments: readonly SelectedAttachment[];
  /** Whether a starting Pod may need an address of its primary network. */
  readonly mayNeedPrimary: boolean;
  /** Attachments that the Pod holds and no longer selects. */
  readonly unselected: readonly H[];
  /** The NICs that the Pod requests by OVN4NFV; "held" once the request is served. */
  readonly ovn4nfv: Ovn4nfvRequest | 'held' | undefined;
}

export type ParsedPodResult<H extends HeldAttachment> =
  | { readonly ok: true; readonly value: ParsedPod<H> }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

/** @param held the attachments that the Pod's uid holds, sorted by ordinal */
export function parsePod<H extends HeldAttachment>(pod: Pod, held: readonly H[]): ParsedPodResult<H> {
  if (pod.problems.length > 0) return { ok: false, problems: pod.problems.map(requestProblem) };
  if (pod.assertedMachine && !isLauncher(pod))
    return { ok: false, problems: [clusterProblem(pod.launcherRefusal || unverifiedOwner(pod.assertedMachine))] };
  const selected = parseNetworkSelections(pod);
  if (!selected.ok) return { ok: false, problems: [requestProblem(selected.problem)] };
  const ovn4nfv = parseOvn4nfv(pod, held);
  if (!ovn4nfv.ok) return { ok: false, problems: [requestProblem(ovn4nfv.problem)] };
  const many = tooManyNics(selected.value, ovn4nfv.value);
  if (many !== undefined) return { ok: false, problems: [requestProblem(many)] };
  const selectable = held.filter(({ provider }) => provider !== ovn4nfvProvider);
  const { matches, unselected } = matchHeldAttachments(selected.value, selectable);
  const repeated = repeatedNetworks(selected.value);
  const [networksKey, networks] = networksAnnotationOf(pod);
  return {
    ok: true,
    value: {
      pod,
      annotations: new PodAnnotations(pod),
      networksKey,
      selectsNetworks: networks !== '',
      vip: pod.annotations[vipAnnotation]?.trim() ?? '',
      attachments: matches.flatMap(({ selection, ordinal, held: own }) =>
        own ? [] : { selection, ordinal, isRepeated: repeated.has(networkKey(selection)) },
      ),
      mayNeedPrimary: lacksPrimary(pod, held) && !selected.value.some(({ isMain }) => isMain),
      unselected,
      ovn4nfv: ovn4nfv.value,
    },
  };
}

function parseOvn4nfv(pod: Pod, held: readonly HeldAttachment[]): Result<Ovn4nfvRequest | 'held' | undefined> {
  return held.some(({ provider }) => provider === ovn4nfvProvider) ? ok('held') : parseOvn4nfvRequest(pod);
}

function tooManyNics(selections: readonly unknown[], ovn4nfv: ParsedPod['ovn4nfv']): string | undefined {
  const requested = typeof ovn4nfv === 'object' ? ovn4nfv.interfaces.length : 0;
  const has = selections.length + requested;
  if (requested === 0 || has <= podLimits.attachments) return undefined;
  const remedy = 'remove some, or spread them over several Pods';
  return limitExceeded('the Pod', {
    has,
    most: podLimits.attachments,
    unit: 'networks and OVN4NFV interfaces',
    remedy,
  });
}

const unverifiedOwner = ({ name, uid }: Controller): string =>
  `VirtualMachineInstance ${name} (uid ${uid}), the Pod's controller, could not be looked up yet: the Pod waits until it is found`;

/**
 * Whether the Pod needs a NIC of the primary network, which is made once, when the Pod starts: its
 * namespace may be bound to a Subnet after the Pod got its attachments. A Pod that shows an
 * allocation and holds none gets one again.
 */
function lacksPrimary({ phase, annotations }: Pod, held: readonly HeldAttachment[]): boolean {
  if (phase === '' || phase === 'Pending') return !held.some(({ provider }) => provider === primaryProvider);
  return held.length === 0 && hasAllocatedAnnotation(annotations);
}

function repeatedNetworks(selections: readonly NetworkSelection[]): ReadonlySet<string> {
  const keys = selections.map(networkKey);
  return new Set(keys.filter((key, index) => keys.indexOf(key) !== index));
}
