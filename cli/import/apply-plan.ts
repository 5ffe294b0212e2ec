/**
 * Applies an import plan. Every step is idempotent, so an interrupted run can be repeated. A
 * Kube-OVN object changes only after the ledger has its address.
 */
import { type ErrorCode, IpledgerError } from '../../lib/errors.ts';
import { ipObjectName } from '../../lib/kubernetes/ip-object-name.ts';
import { allocationAnnotation, finalizer, kubeOvnFinalizers } from '../../lib/kubernetes/kubernetes-metadata.ts';
import { type Allocation, IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { readAll } from '../../lib/ledger-client/pages.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { listAllocations } from '../clients/list-allocations.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import { isProven, type ObservedAttachment } from './observed-attachment.ts';
import { addressesOf, allocatedAddressesOf, type PlannedQuarantine, subnetAddressKey } from './conflict.ts';
import type { ImportPlan } from './import-plan.ts';
import { podKey } from '../output/format.ts';
import { type KubeOvnObject, type KubeOvnIp, objectPath, preconditions } from '../cluster/cluster-snapshot.ts';

/** Concurrent requests. */
const concurrency = 16;
const validMs = 10_000;
/**
 * The errors that mean that another holder, a reservation or a quarantine may keep one of the
 * addresses.
 */
const isTaken: ReadonlySet<ErrorCode> = new Set(['ADDRESS_IN_USE', 'ADDRESS_RESERVED', 'ADDRESS_QUARANTINED']);

/** An object that the ledger rejected. Nothing of it was changed. */
export interface RejectedObject {
  readonly isPod: boolean;
  readonly where: string;
  readonly reason: string;
}

export interface ImportTarget {
  readonly allocator: LedgerClient;
  readonly kubernetes: Pick<KubernetesClient, 'patch' | 'remove'>;
}

/**
 * Applies a plan. A Pod whose address is taken is imported once more before it is rejected.
 * @param untilBindingsEnd awaited before that: agents may end the bindings that hold addresses
 * @throws CliError, IpledgerError when allocator or API do not answer; completed steps stay.
 */
export async function applyPlan(
  plan: ImportPlan,
  target: ImportTarget,
  untilBindingsEnd: () => Promise<void> = () => Promise.resolve(),
): Promise<RejectedObject[]> {
  const { kubernetes, allocator } = target;
  const rejected: RejectedObject[] = [];
  const attempt = async (where: string, work: () => Promise<unknown>): Promise<IpledgerError | undefined> => {
    const rejection = await rejectionOf(work);
    if (rejection) rejected.push({ isPod: where.startsWith('Pod '), where, reason: rejection.message });
    return rejection;
  };
  /** First records the object in the ledger, then takes it over. */
  const takeOver = async (object: KubeOvnObject, record: () => Promise<unknown>): Promise<void> => {
    await attempt(`${object.kind} ${object.name}`, async () => {
      await record();
      await adopt(kubernetes, object);
    });
  };
  /** Quarantines an address. The ledger rejects only those of gateways, networks and broadcasts. */
  const quarantine = async (address: PlannedQuarantine): Promise<void> => {
    await rejectionOf(() => allocator.call(IpamService.quarantine, address));
  };
  /** The Pods that were rejected because one of their addresses is taken. */
  const taken: (readonly [string, readonly ObservedAttachment[]])[] = [];
  const leftOutAddresses = (pod: string, attachments: readonly ObservedAttachment[]): PlannedQuarantine[] =>
    addressesOf(attachments).map((each) => ({ ...each, reason: `left out of the import, rejected: Pod ${pod}` }));
  /** Imports a Pod. If its request itself is rejected, its addresses are quarantined. */
  const importOrQuarantine = async (pod: string, attachments: readonly ObservedAttachment[]): Promise<void> => {
    const rejection = await rejectionOf(() => importPod(attachments, target));
    if (!rejection) return;
    if (isTaken.has(rejection.code)) return void taken.push([pod, attachments]);
    rejected.push({ isPod: true, where: `Pod ${pod}`, reason: rejection.message });
    for (const each of leftOutAddresses(pod, attachments)) await quarantine(each);
  };
  /** Imports a Pod again. If that fails, returns its addresses. */
  const importAgain = async ([pod, attachments]: (typeof taken)[number]): Promise<PlannedQuarantine[]> =>
    (await attempt(`Pod ${pod}`, () => importPod(attachments, target))) ? leftOutAddresses(pod, attachments) : [];
  const { subnets, pools, reservations } = plan;
  const { applySubnet, applyPool } = SubnetsService;
  await forEachConcurrently(subnets, (each) => takeOver(each, () => allocator.call(applySubnet, configure(each))));
  await forEachConcurrently(pools, (each) => takeOver(each, () => allocator.call(applyPool, configure(each))));
  await forEachConcurrently(reservations, ({ object, ...reservation }) => {
    const reason = `${object.kind} object ${object.name}`;
    return takeOver(object, () => allocator.call(IpamService.reserve, { ...reservation, reason }));
  });
  await forEachConcurrently(plan.quarantines, quarantine);
  // Attachments of annotations alone come last, and take no address or MAC of a record
  for (const proven of [true, false]) {
    const attachments = plan.attachments.filter((each) => isProven(each) === proven);
    // A request has all attachments of a Pod with equal evidence
    const byPod = Map.groupBy(attachments, ({ holder }) => podKey(holder));
    await forEachConcurrently([...byPod], ([pod, each]) => importOrQuarantine(pod, each));
  }
  if (taken.length > 0) {
    await untilBindingsEnd();
    const undecided: PlannedQuarantine[] = [];
    await forEachConcurrently(taken, async (each) => void undecided.push(...(await importAgain(each))));
    const kept = undecided.length > 0 ? await readKeptAddresses(allocator) : new Set();
    await forEachConcurrently(
      undecided.filter((each) => !kept.has(subnetAddressKey(each))),
      quarantine,
    );
  }
  await forEachConcurrently(plan.leftovers, (ip) => deleteIp(kubernetes, ip));
  return rejected;
}

/**
 * The addresses that a holder or a reservation keeps. An address that only a binding holds is free
 * when the binding ends.
 */
async function readKeptAddresses(allocator: LedgerClient): Promise<Set<string>> {
  const { allocations } = await listAllocations(allocator, {});
  const reservations = await readAll(
    (pageToken) => allocator.call(IpamService.listReservations, { pageToken }),
    ({ records }) => records,
  );
  return new Set([...allocatedAddressesOf(allocations), ...reservations].map(subnetAddressKey));
}

/** @throws CliError, IpledgerError for all but a rejection. */
async function rejectionOf(work: () => Promise<unknown>): Promise<IpledgerError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof IpledgerError) || ['transient', 'damaged', 'bug'].includes(error.kind)) throw error;
    return error;
  }
}

const configure = <Spec>({ name, uid, generation, spec }: KubeOvnObject & { readonly spec: Spec }) => ({
  name,
  spec,
  source: { uid, generation },
});

async function importPod(
  observed: readonly ObservedAttachment[],
  { allocator, kubernetes }: ImportTarget,
): Promise<void> {
  const [first] = observed;
  if (!first) return;
  const attachments = observed.map(
    ({ provider, ordinal, interface: name, subnet, addresses, mac, routes, vip, defaultRoute }) => ({
      provider,
      ordinal,
      interface: name,
      subnets: [subnet],
      candidates: [{ addresses }],
      mac,
      routes,
      reservation: vip === '' ? '' : `vip/${vip}`,
      ...(defaultRoute !== undefined && { defaultRoute }),
    }),
  );
  const request = { pod: first.holder, attachments, validMs, import: true };
  const { allocations } = await allocator.call(IpamService.allocate, request);
  for (const [index, { ipObject }] of observed.entries()) {
    const allocation = allocations[index];
    if (ipObject && allocation && !ipObject.isReserved) await markAllocated(kubernetes, ipObject, allocation);
  }
}

/** Marks the object as an allocation's, in one patch: half of it would reserve the address. */
async function markAllocated(
  kubernetes: ImportTarget['kubernetes'],
  ip: KubeOvnIp,
  { seq, attachment }: Allocation,
): Promise<void> {
  const { pod = '', namespace = '', provider = '', ordinal = 0 } = attachment ?? {};
  if (ip.name !== ipObjectName({ pod, namespace, provider, ordinal })) return deleteIp(kubernetes, ip);
  const finalizers = ip.finalizers.filter((each) => !kubeOvnFinalizers.has(each));
  const metadata = { ...preconditions(ip), finalizers, annotations: { [allocationAnnotation]: String(seq) } };
  await kubernetes.patch(objectPath(ip), { metadata });
}

/** Replaces Kube-OVN's finalizers by ipledger's. */
async function adopt(kubernetes: ImportTarget['kubernetes'], object: KubeOvnObject): Promise<void> {
  const others = object.finalizers.filter((each) => each !== finalizer && !kubeOvnFinalizers.has(each));
  const finalizers = [...others, finalizer];
  if (finalizers.join() === object.finalizers.join()) return;
  await kubernetes.patch(objectPath(object), { metadata: { ...preconditions(object), finalizers } });
}

/** Deletes the object before its finalizers: an object without them would reserve its address. */
async function deleteIp(kubernetes: ImportTarget['kubernetes'], ip: KubeOvnIp): Promise<void> {
  await kubernetes.remove(objectPath(ip), ip.uid);
  const finalizers = ip.finalizers.filter((each) => !kubeOvnFinalizers.has(each));
  if (finalizers.length < ip.finalizers.length)
    await kubernetes.patch(objectPath(ip), { metadata: { uid: ip.uid, finalizers } });
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values();
  const worker = async (): Promise<void> => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
}
