/** Creates the objects and Pods of a case, and observes the Pods. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Allocation, IpamService } from '../../../proto/generated/ipledger.ts';
import { asVirtualMachine } from '../../../services/pod-watcher/kubernetes/launcher-verifier.ts';
import { toPod } from '../../../services/pod-watcher/kubernetes/objects/pod.ts';
import { type Fields, textOf } from '../../harness/json.ts';
import { createOwner, type OwnerReference } from './pod-owner.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import type { CaseSetup } from './case-setup.ts';
import type { CaseEnvironment } from './environment.ts';

/** Creates the objects of a case except its Pods. The watcher need not run. */
export async function createCaseObjects({ kubernetes }: CaseEnvironment, setup: CaseSetup): Promise<void> {
  for (const namespace of new Set([setup.namespace, ...setup.networks.map((network) => network.namespace)]))
    await createNamespace(kubernetes, namespace);
  const { namespaceAnnotations: annotations, namespace } = setup;
  if (annotations) await kubernetes.patch('Namespace', namespace, { metadata: { annotations } });
  for (const network of setup.networks)
    if (network.config !== undefined)
      await kubernetes.create({
        kind: 'NetworkAttachmentDefinition',
        metadata: { namespace: network.namespace, name: network.name },
        spec: network.config === '' ? {} : { config: network.config },
      });
  for (const { name, spec } of setup.subnets) await kubernetes.create({ kind: 'Subnet', metadata: { name }, spec });
  for (const { name, spec } of setup.pools) await kubernetes.create({ kind: 'IPPool', metadata: { name }, spec });
}

async function createNamespace(objects: CaseEnvironment['kubernetes'], name: string): Promise<void> {
  if (!(await objects.find('Namespace', name))) await objects.create({ kind: 'Namespace', metadata: { name } });
}

export interface PodOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference | undefined;
  readonly restartPolicy?: string;
  readonly graceSeconds?: number;
  /** Whether the Pod has a node. Default: true. */
  readonly scheduled?: boolean;
}

/** Creates a Pod on node-1, which has no kubelet. */
export function createPod(
  environment: CaseEnvironment,
  namespace: string,
  name: string,
  options: PodOptions = {},
): Promise<KubeObject> {
  const { annotations = {}, owner, restartPolicy = 'Always', graceSeconds, scheduled = true } = options;
  const references = owner && { ownerReferences: [{ ...owner, controller: true } as unknown as Fields] };
  const spec: Fields = {
    containers: [{ name: 'c', image: 'c' }],
    restartPolicy,
    ...(scheduled && { nodeName: 'node-1' }),
    ...(graceSeconds !== undefined && { terminationGracePeriodSeconds: graceSeconds }),
  };
  return environment.kubernetes.create({
    kind: 'Pod',
    metadata: { namespace, name, annotations, ...references },
    spec,
  });
}

/** Creates the Pods of a setup in order, each after the watcher has processed the one before. */
export async function createPods(
  environment: CaseEnvironment,
  setup: CaseSetup,
  names: readonly string[],
): Promise<KubeObject[]> {
  const { namespace, annotations, owner, restartPolicy } = setup;
  const reference = await createOwner(environment.kubernetes, owner, namespace);
  const pods: KubeObject[] = [];
  for (const name of names) {
    pods.push(await createPod(environment, namespace, name, { annotations, owner: reference, restartPolicy }));
    await environment.waitUntilProcessed();
  }
  return pods;
}

/** The default name of a setup's Pod. */
export function defaultPodName({ owner }: CaseSetup, index = 0): string {
  if (owner.kind === 'StatefulSet') return `${owner.name}-${owner.start + index}`;
  if (owner.kind === 'VirtualMachineInstance') return `virt-launcher-${owner.name}-${'abcdefgh'[index] ?? index}`;
  return index === 0 ? 'p' : `p${index + 1}`;
}

/**
 * Allocates the addresses that are in use in the case, and all addresses of exhausted Subnets, to
 * other Pods.
 */
export async function occupyAddresses(environment: CaseEnvironment, setup: CaseSetup): Promise<void> {
  for (const [subnet, taken] of Object.entries(setup.inUse))
    for (const [address, holder] of Object.entries(taken)) {
      const [namespace = 'default', name = holder] = holder.split('/');
      await createNamespace(environment.kubernetes, namespace);
      const pod =
        (await environment.kubernetes.find('Pod', `${namespace}/${name}`)) ??
        (await createPod(environment, namespace, name));
      await allocateDirectly(environment, pod, { subnet, addresses: [address] });
    }
  for (const subnet of setup.exhausted) {
    const pod = await createPod(environment, 'default', `everything-of-${subnet}`);
    await occupyAll(environment, pod, subnet);
  }
}

/**
 * Allocates addresses (or one of each family) to a Pod with the allocator's API, without
 * annotations.
 */
export async function allocateDirectly(
  { allocator }: CaseEnvironment,
  { metadata }: KubeObject,
  { subnet, addresses, ordinal = 0 }: { subnet: string; addresses: readonly string[]; ordinal?: number },
): Promise<Allocation | undefined> {
  const { namespace = '', name, uid } = metadata;
  const attachment = { provider: `held.${subnet}`, ordinal, subnets: [subnet] };
  const candidates = addresses.length === 0 ? [] : [{ addresses }];
  const request = { pod: { namespace, name, uid }, attachments: [{ ...attachment, candidates }] };
  return (await allocator.call(IpamService.allocate, request)).allocations[0];
}

const maxAttachments = 24;
const maxHeld = 5_000;

async function occupyAll({ allocator }: CaseEnvironment, { metadata }: KubeObject, subnet: string): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  const provider = `held.${subnet}`;
  for (let next = 0, count = maxAttachments; next < maxHeld;) {
    const attachments = Array.from({ length: count }, (_, index) => ({
      provider,
      ordinal: next + index,
      subnets: [subnet],
    }));
    try {
      await allocator.call(IpamService.allocate, { pod: { namespace, name, uid }, attachments });
      next += count;
    } catch (error) {
      // Fewer addresses are free: allocate one at a time.
      if (count === 1) return;
      count = 1;
      if (!String(error).includes('NoAvailableAddress')) throw error;
    }
  }
}

/** The visible state of a Pod. */
export interface PodObservation {
  readonly annotations: Readonly<Record<string, string>>;
  /** The ledger's allocations of its uid, oldest first. */
  readonly allocations: readonly Allocation[];
  /** Reasons of its Warning Events. */
  readonly reasons: readonly string[];
  /** The messages of its Warning Events; '' if it has an allocation. */
  readonly error: string;
  /** The IP objects of its allocations. */
  readonly ips: readonly KubeObject[];
}

/** Observes a Pod, which may be deleted. */
export async function observePod(environment: CaseEnvironment, pod: KubeObject): Promise<PodObservation> {
  const { namespace = '', name, uid } = pod.metadata;
  const { ledgerName, ledgerUid } = asVirtualMachine(toPod(pod));
  const [now, events, { allocations }, ips] = await Promise.all([
    environment.kubernetes.find('Pod', `${namespace}/${name}`),
    environment.kubernetes.listEventsOf(pod),
    environment.allocator.call(IpamService.listAllocations, { namespace, pod: ledgerName }),
    environment.kubernetes.list('IP'),
  ]);
  const annotations = (now?.metadata.uid === uid ? now : pod).metadata.annotations ?? {};
  const own = allocations.filter(({ podUid }) => podUid === ledgerUid);
  const warnings = events.filter(({ type }) => type === 'Warning');
  // An unserved network is no error: the Pod requests no address of it.
  const errors = warnings.filter(({ reason }) => reason !== 'PodNetworkNotServed');
  return {
    annotations,
    allocations: own,
    reasons: warnings.map(({ reason }) => reason),
    error: own.length > 0 ? '' : errors.map(({ message }) => message).join('; '),
    ips: ips.filter(
      ({ spec }) => textOf(spec?.['podName']) === ledgerName && textOf(spec?.['namespace']) === namespace,
    ),
  };
}

/** Waits until a Pod has an allocation. @throws Error after the timeout */
export async function waitForAllocation(
  environment: CaseEnvironment,
  pod: KubeObject,
  timeoutMs = 60_000,
): Promise<Allocation> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { allocations, error } = await observePod(environment, pod);
    const [first] = allocations;
    if (first) return first;
    if (performance.now() > deadline)
      throw new Error(`Pod ${pod.metadata.name} got no address${error === '' ? '' : `: ${error}`}`);
    await sleep(20);
  }
}

/** The addresses of an allocation, v4 first, joined with a comma. */
export const formatAddresses = ({ addresses }: Allocation): string => addresses.map(({ address }) => address).join(',');
