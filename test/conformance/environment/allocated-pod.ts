/** Pods with an address, and the fate of their addresses. */
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { asVirtualMachine } from '../../../services/pod-watcher/kubernetes/launcher-verifier.ts';
import { toPod } from '../../../services/pod-watcher/kubernetes/objects/pod.ts';
import { fieldsOf } from '../../harness/json.ts';
import type { Fate } from '../areas/fate.ts';
import { formatAddresses, observePod, createPod, waitForAllocation, defaultPodName } from './case-pods.ts';
import { type KubeObject, keyOf } from '../../harness/kubernetes/kubernetes-client.ts';
import { createOwner, type OwnerReference } from './pod-owner.ts';
import type { CaseSetup } from './case-setup.ts';
import { getAddressRecord, type CaseEnvironment } from './environment.ts';

export interface AllocatedPod {
  readonly caseEnvironment: CaseEnvironment;
  readonly setup: CaseSetup;
  readonly owner: OwnerReference | undefined;
  /** The Pod of the case: the last one. */
  readonly pod: KubeObject;
  readonly pods: readonly KubeObject[];
  /** The allocations of each Pod before the events, by Pod name. */
  readonly initialAllocations: ReadonlyMap<string, readonly Allocation[]>;
  /** Name of the IP object. */
  readonly ipName: string;
}

export interface AllocatedPodOptions {
  /** Number of the owner's Pods (default 1). */
  readonly replicas?: number;
  readonly graceSeconds?: number;
}

/** Creates Pods of the setup's owner; resolves when each has its address and its IP object. */
export async function createAllocatedPod(
  environment: CaseEnvironment,
  setup: CaseSetup,
  { replicas = 1, graceSeconds }: AllocatedPodOptions = {},
): Promise<AllocatedPod> {
  const owner = await createOwner(environment.kubernetes, setup.owner, 'default');
  const { restartPolicy, annotations } = setup;
  const options = { owner, restartPolicy, annotations, ...(graceSeconds !== undefined && { graceSeconds }) };
  const all: KubeObject[] = [];
  const initialAllocations = new Map<string, readonly Allocation[]>();
  for (let index = 0; index < replicas; index++) {
    const pod = await createPod(environment, 'default', defaultPodName(setup, index), options);
    await environment.waitUntilProcessed();
    await waitForAllocation(environment, pod);
    initialAllocations.set(pod.metadata.name, (await observePod(environment, pod)).allocations);
    all.push(pod);
  }
  const pod = all.at(-1);
  if (!pod) throw new Error('replicas is 0: set it to at least 1');
  const shown = await environment.waitForMatch(async () => {
    const { ips, allocations } = await observePod(environment, pod);
    return {
      expected: { all: true },
      got: { all: ips.length === allocations.length, ip: ips[0]?.metadata.name ?? '' },
    };
  });
  const { all: allShown, ip } = fieldsOf(shown.got);
  if (allShown !== true) throw new Error(`Pod ${pod.metadata.name} has an address and no IP object`);
  return {
    caseEnvironment: environment,
    setup: setup,
    owner,
    pod,
    pods: all,
    initialAllocations,
    ipName: typeof ip === 'string' ? ip : '',
  };
}

/** Deletes a Pod without a grace period, like a kubelet after the containers have ended. */
export function deletePod({ kubernetes }: CaseEnvironment, pod: KubeObject): Promise<void> {
  return kubernetes.remove('Pod', keyOf(pod));
}

/**
 * The fate of all addresses of a Pod: kept if the Pod's name (with `ofUid` its uid) still has them,
 * or they are reserved for that name.
 */
export async function addressFate(
  { caseEnvironment, initialAllocations }: AllocatedPod,
  pod: KubeObject,
  { ofUid = false } = {},
): Promise<Fate | 'kept in part'> {
  const { namespace, name, ledgerName, ledgerUid } = asVirtualMachine(toPod(pod));
  const places = (initialAllocations.get(name) ?? []).flatMap(({ subnet, addresses }) =>
    addresses.map(({ address }) => ({ subnet, address })),
  );
  const isKept = await Promise.all(
    places.map(async ({ subnet, address }) => {
      const record = await getAddressRecord(caseEnvironment, subnet, address);
      const reservedFor = record?.reservation?.reservedFor ?? '';
      if (!ofUid && reservedFor.startsWith(`pod/${namespace}/${ledgerName}/`)) return true;
      const holder = record?.allocation;
      return holder?.attachment?.pod === ledgerName && (!ofUid || holder.podUid === ledgerUid);
    }),
  );
  if (!isKept.includes(true)) return 'released';
  return isKept.includes(false) ? 'kept in part' : 'kept';
}

/** The fate of the Pod's IP object. */
export async function ipObjectFate({ caseEnvironment, ipName }: AllocatedPod): Promise<Fate> {
  return (await caseEnvironment.kubernetes.find('IP', ipName)) ? 'kept' : 'released';
}

/** Creates the Pod again with the same name. */
export async function recreatePod(
  life: AllocatedPod,
  more: Readonly<Record<string, string>> = {},
): Promise<KubeObject> {
  const { caseEnvironment, setup, owner, pod } = life;
  const annotations = { ...setup.annotations, ...more };
  const recreated = await createPod(caseEnvironment, 'default', pod.metadata.name, { owner, annotations });
  await caseEnvironment.waitUntilProcessed();
  return recreated;
}

/** Recreates the Pod; resolves to "the same", or to its new addresses. */
export async function describeReallocation(life: AllocatedPod): Promise<string> {
  const recreated = await recreatePod(life);
  const [before] = life.initialAllocations.get(life.pod.metadata.name) ?? [];
  const { got } = await life.caseEnvironment.waitForMatch(async () => {
    const [first] = (await observePod(life.caseEnvironment, recreated)).allocations;
    return { expected: before ? formatAddresses(before) : null, got: first ? formatAddresses(first) : null };
  });
  if (typeof got !== 'string' || !before) return 'nothing';
  return got === formatAddresses(before) ? 'the same' : got;
}
