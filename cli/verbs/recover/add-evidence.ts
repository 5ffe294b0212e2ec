/**
 * Adds evidence that tenants cannot write to what the cluster shows: the allocations of an export,
 * and the binding files of nodes. It counts for Pods that run: by their uid, and on the node whose
 * agent wrote the file. Pure.
 */
import type { BindingFile } from '../../../lib/binding-file.ts';
import { canonicalAddress } from '../../../ledger/domain/addresses/address.ts';
import { type ClusterSnapshot, providerOf, subnetContains } from '../../cluster/cluster-snapshot.ts';
import type { Pod } from '../../cluster/cluster-state.ts';
import { hasEnded } from '../../cluster/needed-addresses.ts';
import { findRequestedAttachments } from '../../cluster/requested-attachments.ts';
import { addressesOf, type Conflict } from '../../import/conflict.ts';
import {
  type AttachmentRecord,
  createAttachment,
  formatHolder,
  holderOf,
  type ObservedAttachment,
  observedKey,
} from '../../import/observed-attachment.ts';

/** An allocation that an export has at its end. */
export interface ExportedAllocation extends AttachmentRecord {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly seq: number;
}

export interface Evidence {
  readonly exported: readonly ExportedAllocation[];
  readonly bound: readonly BindingFile[];
}

/** The event that allocated the addresses, as the strongest record shows; 0 without a record. */
export const recordSeq = ({ ipObject, exportedAs }: ObservedAttachment): number =>
  Math.max(ipObject?.allocation ?? 0, exportedAs ?? 0);

export function addEvidence(
  observed: readonly ObservedAttachment[],
  { exported, bound }: Evidence,
  snapshot: ClusterSnapshot,
): { readonly attachments: readonly ObservedAttachment[]; readonly conflicts: readonly Conflict[] } {
  const running = snapshot.pods.filter((pod) => !hasEnded(pod));
  const podsOf = Map.groupBy(running, (pod) => podKey(pod.namespace, pod.ledgerName ?? pod.name, pod.identity));
  const ofPod = Map.groupBy(observed, ({ holder }) => podKey(holder.namespace, holder.name, holder.uid));
  for (const each of exported) {
    const key = podKey(each.namespace, each.pod, each.uid);
    const [pod] = podsOf.get(key) ?? [];
    if (pod) ofPod.set(key, withExported(ofPod.get(key) ?? [], pod, each));
  }
  const conflicts: Conflict[] = [];
  const files = Map.groupBy(bound, ({ namespace, pod, podUid }) => podKey(namespace, pod, podUid));
  for (const [key, ofOne] of files) {
    for (const pod of podsOf.get(key) ?? []) {
      const own = ofOne.filter(({ node }) => node === pod.node);
      if (own.length === 0) continue;
      const result = withBindings(ofPod.get(key) ?? [], pod, { files: own, snapshot });
      ofPod.set(key, [...result.attachments]);
      conflicts.push(...result.conflicts);
    }
  }
  return { attachments: [...ofPod.values()].flat(), conflicts };
}

const podKey = (namespace: string, name: string, uid: string): string => `${namespace}/${name} ${uid}`;

const addressKey = (addresses: readonly string[]): string => addresses.toSorted().join();

function withExported(
  attachments: readonly ObservedAttachment[],
  pod: Pod,
  { seq, namespace: _, pod: __, uid: ___, ...proven }: ExportedAllocation,
): ObservedAttachment[] {
  const fresh = { ...createAttachment(holderOf(pod), proven), exportedAs: seq };
  const known = attachments.find((each) => observedKey(each) === observedKey(fresh));
  if (!known) return [...attachments, fresh];
  if (known.isRecorded && recordSeq(known) >= seq) return [...attachments];
  const replaced = { ...known, ...proven, exportedAs: seq, isRecorded: true };
  return attachments.map((each) => (each === known ? replaced : each));
}

/** Adds the binding files of its node to the attachments of one Pod. */
function withBindings(
  observed: readonly ObservedAttachment[],
  pod: Pod,
  { files, snapshot }: { readonly files: readonly BindingFile[]; readonly snapshot: ClusterSnapshot },
): { readonly attachments: readonly ObservedAttachment[]; readonly conflicts: readonly Conflict[] } {
  const attachments = [...observed];
  const conflicts: Conflict[] = [];
  // Two sandboxes of a Pod have the same addresses
  const distinct = new Map(
    files.map(({ provider, interface: name, addresses }) => {
      const canonical = addresses.flatMap((each) => canonicalAddress(each) ?? []);
      return [`${provider} ${addressKey(canonical)}`, { provider, interface: name, addresses: canonical }] as const;
    }),
  );
  const remaining = [...distinct.values()].filter((file) => {
    const index = attachments.findIndex(
      (each) => each.provider === file.provider && addressKey(each.addresses) === addressKey(file.addresses),
    );
    const known = attachments[index];
    if (known) attachments[index] = { ...known, boundOn: pod.node };
    return !known && file.addresses.length > 0;
  });
  for (const file of remaining) {
    const candidates = attachments.filter((each) => each.provider === file.provider && each.boundOn === undefined);
    const known = candidates.find((each) => each.interface === file.interface) ?? candidates[0];
    const subnet = findSubnet(file.provider, file.addresses, snapshot);
    if (known?.isRecorded) {
      const left = [known, { ...known, addresses: file.addresses, subnet }];
      conflicts.push({
        kind: 'binding file',
        where: formatHolder(known),
        what: `a binding file of node ${pod.node} has ${file.provider} ${file.addresses.join()}; a later record has ${known.addresses.join()}`,
        remedy: 'run `ip addr` in the container, and delete the Pod',
        leavesOut: { attachments: [known], addresses: addressesOf(left) },
      });
    } else if (known) {
      attachments[attachments.indexOf(known)] = { ...known, addresses: file.addresses, subnet, boundOn: pod.node };
    } else {
      const requested = findRequestedAttachments(pod, snapshot).filter(({ provider }) => provider === file.provider);
      const used = new Set(
        attachments.filter(({ provider }) => provider === file.provider).map((each) => each.ordinal),
      );
      const free = requested.findIndex((_, ordinal) => !used.has(ordinal));
      const proven = { ...file, ordinal: free >= 0 ? free : used.size, subnet, mac: '' };
      const isRequested = free >= 0 || file.provider === 'ovn';
      attachments.push({
        ...createAttachment(holderOf(pod), proven),
        isRecorded: false,
        isRequested,
        boundOn: pod.node,
      });
    }
  }
  return { attachments, conflicts };
}

function findSubnet(provider: string, addresses: readonly string[], { subnets }: ClusterSnapshot): string {
  const isOf = (expected: string) => (subnet: ClusterSnapshot['subnets'][number]) =>
    providerOf(subnet) === expected && addresses.some((each) => subnetContains(subnet, each));
  return (subnets.find(isOf(provider)) ?? subnets.find(isOf('ovn')))?.name ?? '';
}
