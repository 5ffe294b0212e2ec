/**
 * Takes a cluster over. Each step says again what is so already, so a run that broke off is simply run again: nothing is taken
 * from Kube-OVN's objects before the ledger has what they stand for.
 */
import { IpledgerError } from '../../lib/errors.ts';
import { ipName } from '../../lib/ip-name.ts';
import { allocationAnnotation, finalizer, kubeOvnFinalizers } from '../../lib/marks.ts';
import { type Allocation, IpamService, SubnetsService } from '../../proto/ipledger.ts';
import type { Allocator } from '../allocator.ts';
import type { Kubernetes } from '../kubernetes.ts';
import type { Claim } from './claims.ts';
import type { Plan } from './plan.ts';
import { type Left, type LeftIp, pathOf, unchanged } from '../snapshot.ts';

/** Requests at a time. */
const concurrency = 16;
const validMs = 10_000;

/** What the ledger did not take: of that nothing was changed. */
export interface Refused {
  readonly where: string;
  readonly reason: string;
}

export interface Target {
  readonly allocator: Allocator;
  readonly kubernetes: Pick<Kubernetes, 'patch' | 'remove'>;
}

/** @throws Failure, IpledgerError when allocator or API do not answer; what was done until then stays. */
export async function apply(plan: Plan, target: Target): Promise<Refused[]> {
  const { kubernetes, allocator } = target;
  const refused: Refused[] = [];
  const trying = async (where: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof IpledgerError) || ['transient', 'damaged', 'bug'].includes(error.kind)) throw error;
      refused.push({ where, reason: error.message });
    }
  };
  /** First the ledger has it, then the object is ours. */
  const taking = (object: Left, tell: () => Promise<unknown>): Promise<void> =>
    trying(`${object.kind} ${object.name}`, async () => {
      await tell();
      await adopt(kubernetes, object);
    });
  const { subnets, pools, reservations } = plan;
  await eachOf(subnets, (each) => taking(each, () => allocator.ask(SubnetsService.applySubnet, configured(each))));
  await eachOf(pools, (each) => taking(each, () => allocator.ask(SubnetsService.applyPool, configured(each))));
  await eachOf(reservations, ({ object, ...held }) => {
    const reason = `${object.kind} object ${object.name}`;
    return taking(object, () => allocator.ask(IpamService.reserve, { ...held, reason }));
  });
  await eachOf([...podsOf(plan.claims)], ([pod, claims]) => trying(`Pod ${pod}`, () => takeOver(claims, target)));
  await eachOf(plan.leftovers, (ip) => drop(kubernetes, ip));
  return refused;
}

const configured = <Spec>({ name, uid, generation, spec }: Left & { readonly spec: Spec }) => ({
  name,
  spec,
  source: { uid, generation },
});

/** All claims of a Pod go together, as all that it asks for does. */
const podsOf = (claims: readonly Claim[]): Map<string, Claim[]> =>
  Map.groupBy(claims, ({ holder: { namespace, name } }) => `${namespace}/${name}`);

async function takeOver(claims: readonly Claim[], { allocator, kubernetes }: Target): Promise<void> {
  const [first] = claims;
  if (!first) return;
  const attachments = claims.map(
    ({ provider, ordinal, interface: name, subnet, addresses, mac, routes, ...claim }) => ({
      provider,
      ordinal,
      interface: name,
      subnets: [subnet],
      candidates: [{ addresses }],
      mac,
      routes,
      reservation: claim.vip === '' ? '' : `vip/${claim.vip}`,
      ...(claim.defaultRoute !== undefined && { defaultRoute: claim.defaultRoute }),
    }),
  );
  const request = { pod: first.holder, attachments, validMs, import: true };
  const { allocations } = await allocator.ask(IpamService.allocate, request);
  for (const [index, { ip }] of claims.entries()) {
    const allocation = allocations[index];
    if (ip && allocation && !ip.reserved) await mark(kubernetes, ip, allocation);
  }
}

/** Kube-OVN's IP object becomes the allocation's, in one step: without either mark it would be somebody's reservation. */
async function mark(kubernetes: Target['kubernetes'], ip: LeftIp, { seq, attachment }: Allocation): Promise<void> {
  const { pod = '', namespace = '', provider = '', ordinal = 0 } = attachment ?? {};
  if (ip.name !== ipName({ pod, namespace, provider, ordinal })) return drop(kubernetes, ip);
  const finalizers = ip.finalizers.filter((each) => !kubeOvnFinalizers.has(each));
  const metadata = { ...unchanged(ip), finalizers, annotations: { [allocationAnnotation]: String(seq) } };
  await kubernetes.patch(pathOf(ip), { metadata });
}

/** The object is held by the ledger from now on, and by Kube-OVN no more. */
async function adopt(kubernetes: Target['kubernetes'], object: Left): Promise<void> {
  const others = object.finalizers.filter((each) => each !== finalizer && !kubeOvnFinalizers.has(each));
  const finalizers = [...others, finalizer];
  if (finalizers.join() === object.finalizers.join()) return;
  await kubernetes.patch(pathOf(object), { metadata: { ...unchanged(object), finalizers } });
}

/** Deleted first: once nothing holds it and it lives, it would be somebody's reservation. */
async function drop(kubernetes: Target['kubernetes'], ip: LeftIp): Promise<void> {
  await kubernetes.remove(pathOf(ip), ip.uid);
  const finalizers = ip.finalizers.filter((each) => !kubeOvnFinalizers.has(each));
  if (finalizers.length < ip.finalizers.length)
    await kubernetes.patch(pathOf(ip), { metadata: { uid: ip.uid, finalizers } });
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
}
