/** Allocations against the Pods that live: who holds something is there, needs it, and shows exactly that. */
import type { Allocation } from '../../proto/ipledger.ts';
import type { Disagreement, Picture, Pod } from './picture.ts';
import { isKept } from './retained.ts';
import { addressesOf, command, podKey, podOf, said } from './say.ts';
import { wantedProviders } from './wants.ts';

/** The pod-watcher's clock is another one, and it needs a moment to act. */
const overdueSlackMs = 30_000;

const releases = 'the pod-watcher does that: is it running? An ALARM in its log means that it halts releases';
const writes = 'the pod-watcher does that: is it running, and may it patch Pods?';

const annotate = (where: { readonly namespace: string; readonly name: string }, change: string): string =>
  command(['kubectl', 'annotate', 'pod', '-n', where.namespace, where.name, '--overwrite', change], writes);

/** Everything that holds an address without a living Pod, or the other way round. */
export function comparePods(picture: Picture): Disagreement[] {
  const { ledger, cluster, at } = picture;
  const byName = new Map(cluster.pods.map((pod) => [`${pod.namespace}/${pod.ledgerName ?? pod.name}`, pod]));
  const held = Map.groupBy(ledger.allocations, ({ podUid }) => podUid);
  return [
    ...ledger.allocations.flatMap((allocation) =>
      isKept(allocation, cluster)
        ? ofKept(allocation, byName.get(podOf(allocation.attachment)))
        : ofAllocation(allocation, byName.get(podOf(allocation.attachment)), at),
    ),
    ...cluster.pods.flatMap((pod) => ofPod(pod, held.get(pod.identity) ?? [], picture)),
  ];
}

/** What a member or a machine held stays its own while it is away; one that is there shows it. */
const ofKept = (allocation: Allocation, pod: Pod | undefined): Disagreement[] =>
  pod?.identity === allocation.podUid ? annotationsOf(allocation, pod) : [];

function ofAllocation(allocation: Allocation, pod: Pod | undefined, at: number): Disagreement[] {
  const gone = whyGone(allocation, pod, at);
  if (gone === undefined) return annotationsOf(allocation, pod as Pod);
  const what = `holds ${said(allocation)}, and ${gone}`;
  const { addresses, subnet } = allocation;
  const remedy = command(
    ['ipledger', 'release', addresses[0]?.address ?? '', '--subnet', subnet, '--reason', 'its Pod is gone'],
    releases,
  );
  return [{ kind: 'holder gone', where: `Pod ${podOf(allocation.attachment)}`, what, remedy }];
}

/** Why nobody needs it any more; undefined while its Pod does. */
function whyGone({ podUid }: Allocation, pod: Pod | undefined, at: number): string | undefined {
  if (!pod) return 'there is no such Pod';
  if (pod.identity !== podUid) return `the Pod of that name has uid ${pod.identity}`;
  return lifeOf(pod, at) === 'ended' ? `the Pod needs no address any more (${ended(pod)})` : undefined;
}

const ended = ({ hostNetwork, deletionAt, phase }: Pod): string =>
  hostNetwork ? 'it uses the network of its node' : deletionAt === undefined ? phase : 'it should be gone for long';

function annotationsOf(allocation: Allocation, pod: Pod): Disagreement[] {
  const where = `Pod ${podOf(allocation.attachment)}`;
  return Object.entries(wantedAnnotations(allocation)).flatMap(([key, wanted]) => {
    const shown = pod.annotations[key] ?? '';
    const same = key.includes('/mac_address') ? shown.toLowerCase() === wanted.toLowerCase() : shown === wanted;
    const there = shown === '' ? 'is not there' : `says "${shown}"`;
    const what = `annotation ${key} ${there}; the ledger says ${wanted === '' ? 'nothing of that' : `"${wanted}"`}`;
    const remedy = annotate(pod, wanted === '' ? `${key}-` : `${key}=${wanted}`);
    return same ? [] : [{ kind: 'annotation', where, what, remedy }];
  });
}

/** Kube-OVN's keys. A further attachment of a provider shows its address under its interface, once that is known. */
function wantedAnnotations(allocation: Allocation): Record<string, string> {
  const { attachment, addresses, mac, bindings } = allocation;
  const provider = attachment?.provider ?? '';
  if ((attachment?.ordinal ?? 0) > 0) {
    const name = bindings.at(-1)?.interface ?? allocation.interface;
    const prefix = `${provider.replace(/\.ovn$/, '')}.kubernetes.io`;
    if (name === '') return {};
    return { [`${prefix}/ip_address.${name}`]: addressesOf(allocation), [`${prefix}/mac_address.${name}`]: mac };
  }
  const all = (texts: readonly string[]): string => texts.filter((each) => each !== '').join(',');
  return {
    [`${provider}.kubernetes.io/ip_address`]: addressesOf(allocation),
    [`${provider}.kubernetes.io/mac_address`]: mac,
    [`${provider}.kubernetes.io/cidr`]: all(addresses.map(({ cidr }) => cidr)),
    [`${provider}.kubernetes.io/gateway`]: all(addresses.map(({ gateway }) => gateway)),
    [`${provider}.kubernetes.io/allocated`]: 'true',
  };
}

/** Who lives gets what it wants, and does not say that it has what it has not. One that has ended may show what it had. */
function ofPod(pod: Pod, held: readonly Allocation[], picture: Picture): Disagreement[] {
  if (lifeOf(pod, picture.at) !== 'living') return [];
  const where = `Pod ${podKey(pod)}`;
  // Kube-OVN-type NICs of one network also have keys with their interface in them.
  const providers = new Set(
    held.flatMap(({ attachment, interface: name, bindings }) => {
      const provider = attachment?.provider ?? '';
      const interfaces = [name, ...bindings.map((binding) => binding.interface)];
      return [provider, ...interfaces.map((each) => `${provider}.${each}`)];
    }),
  );
  const found: Disagreement[] = [];
  const wanted = held.length === 0 ? wantedProviders(pod, picture.cluster) : [];
  const remedy = command(['ipledger', 'why', podKey(pod)], 'its Events say it, too');
  if (wanted.length > 0)
    found.push({
      kind: 'no address',
      where,
      what: `wants an address of ${wanted.join(' and ')}, and holds none`,
      remedy,
    });
  for (const [key, value] of Object.entries(pod.annotations)) {
    const provider = /^(.+)\.kubernetes\.io\/allocated$/.exec(key)?.[1];
    if (provider === undefined || value !== 'true' || providers.has(provider)) continue;
    const what = `annotation ${key} says that it has an address, and the ledger knows of none`;
    found.push({ kind: 'annotation', where, what, remedy: annotate(pod, `${key}-`) });
  }
  return found;
}

/**
 * Kube-OVN's rule: a Pod needs its addresses until its containers have ended for good, or it is overdue by a whole grace
 * period (its deletion time holds one already). Who is going may have them or not.
 */
export function lifeOf(pod: Pod, at: number): 'living' | 'going' | 'ended' {
  const { hostNetwork, phase, restartPolicy, reason, deletionAt, graceSeconds } = pod;
  const succeeded = phase === 'Succeeded' && restartPolicy !== 'Always';
  const failed = phase === 'Failed' && (restartPolicy === 'Never' || reason === 'Evicted');
  if (hostNetwork || succeeded || failed) return 'ended';
  if (deletionAt === undefined) return 'living';
  return at > deletionAt + graceSeconds * 1_000 + overdueSlackMs ? 'ended' : 'going';
}
