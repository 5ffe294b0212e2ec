/** The Pods of a case, on the objects that it gives, and what is to be seen of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Allocation, IpamService } from '../../../proto/ipledger.ts';
import { asMachine } from '../../../services/pod-watcher/kubernetes/launchers.ts';
import { toPod } from '../../../services/pod-watcher/kubernetes/objects.ts';
import { type Fields, textOf } from '../json.ts';
import { makeOwner, type Reference } from './owner.ts';
import type { KubeObject } from './objects.ts';
import type { Setting } from './setting.ts';
import type { Trial } from './world.ts';

/** Makes what a case gives, but for its Pods; the watcher need not run yet. */
export async function makeSetting({ objects }: Trial, setting: Setting): Promise<void> {
  for (const namespace of new Set([setting.namespace, ...setting.networks.map((network) => network.namespace)]))
    await makeNamespace(objects, namespace);
  const { namespaceAnnotations: annotations, namespace } = setting;
  if (annotations) await objects.patch({ kind: 'Namespace', name: namespace }, { metadata: { annotations } });
  for (const network of setting.networks)
    if (network.config !== undefined)
      await objects.create(
        'NetworkAttachmentDefinition',
        { namespace: network.namespace, name: network.name },
        { spec: network.config === '' ? {} : { config: network.config } },
      );
  for (const { name, spec } of setting.subnets) await objects.create('Subnet', { name }, { spec });
  for (const { name, spec } of setting.pools) await objects.create('IPPool', { name }, { spec });
}

async function makeNamespace(objects: Trial['objects'], name: string): Promise<void> {
  if (!(await objects.find({ kind: 'Namespace', name }))) await objects.create('Namespace', { name });
}

export interface PodOptions {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: Reference | undefined;
  readonly restartPolicy?: string;
  readonly graceSeconds?: number;
  /** false: not scheduled yet. */
  readonly scheduled?: boolean;
}

/** Makes a Pod on node-1, where no kubelet is. */
export function makePod(trial: Trial, namespace: string, name: string, options: PodOptions = {}): Promise<KubeObject> {
  const { annotations = {}, owner, restartPolicy = 'Always', graceSeconds, scheduled = true } = options;
  const references = owner && { ownerReferences: [{ ...owner, controller: true } as unknown as Fields] };
  const spec: Fields = {
    containers: [{ name: 'c', image: 'c' }],
    restartPolicy,
    ...(scheduled && { nodeName: 'node-1' }),
    ...(graceSeconds !== undefined && { terminationGracePeriodSeconds: graceSeconds }),
  };
  return trial.objects.create('Pod', { namespace, name, annotations, ...references }, { spec });
}

/** Makes the Pods of a setting one after the other, each once the one before it was dealt with. */
export async function makePods(trial: Trial, setting: Setting, names: readonly string[]): Promise<KubeObject[]> {
  const { namespace, annotations, owner, restartPolicy } = setting;
  const reference = await makeOwner(trial.objects, owner, namespace);
  const pods: KubeObject[] = [];
  for (const name of names) {
    pods.push(await makePod(trial, namespace, name, { annotations, owner: reference, restartPolicy }));
    await trial.settle();
  }
  return pods;
}

/** The name of a setting's Pod, where the case does not say one. */
export function usualName({ owner }: Setting, index = 0): string {
  if (owner.kind === 'StatefulSet') return `${owner.name}-${owner.start + index}`;
  if (owner.kind === 'VirtualMachineInstance') return `virt-launcher-${owner.name}-${'abcdefgh'[index] ?? index}`;
  return index === 0 ? 'p' : `p${index + 1}`;
}

/** Has other Pods take what the case says is in use, and everything where a Subnet is exhausted. */
export async function takeInUse(trial: Trial, setting: Setting): Promise<void> {
  for (const [subnet, taken] of Object.entries(setting.inUse))
    for (const [address, holder] of Object.entries(taken)) {
      const [namespace = 'default', name = holder] = holder.split('/');
      await makeNamespace(trial.objects, namespace);
      const pod =
        (await trial.objects.find({ kind: 'Pod', namespace, name })) ?? (await makePod(trial, namespace, name));
      await hold(trial, pod, { subnet, addresses: [address] });
    }
  for (const subnet of setting.exhausted) {
    const pod = await makePod(trial, 'default', `everything-of-${subnet}`);
    await holdAll(trial, pod, subnet);
  }
}

/** The Pod takes an address (or one of each family) by the ledger's API, as if its annotations had asked for it. */
export async function hold(
  { served }: Trial,
  { metadata }: KubeObject,
  { subnet, addresses, ordinal = 0 }: { subnet: string; addresses: readonly string[]; ordinal?: number },
): Promise<Allocation | undefined> {
  const { namespace = '', name, uid } = metadata;
  const attachment = { provider: `held.${subnet}`, ordinal, subnets: [subnet] };
  const candidates = addresses.length === 0 ? [] : [{ addresses }];
  const request = { pod: { namespace, name, uid }, attachments: [{ ...attachment, candidates }] };
  return (await served.call(IpamService.allocate, request)).allocations[0];
}

const mostAttachments = 24;
const mostHeld = 5_000;

async function holdAll({ served }: Trial, { metadata }: KubeObject, subnet: string): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  const provider = `held.${subnet}`;
  for (let next = 0, many = mostAttachments; next < mostHeld;) {
    const attachments = Array.from({ length: many }, (_, index) => ({
      provider,
      ordinal: next + index,
      subnets: [subnet],
    }));
    try {
      await served.call(IpamService.allocate, { pod: { namespace, name, uid }, attachments });
      next += many;
    } catch (error) {
      // So many are not left: one by one, until none is.
      if (many === 1) return;
      many = 1;
      if (!String(error).includes('NoAvailableAddress')) throw error;
    }
  }
}

/** What is to be seen of a Pod. */
export interface PodSeen {
  readonly annotations: Readonly<Record<string, string>>;
  /** What the ledger says that its uid holds, oldest first. */
  readonly allocations: readonly Allocation[];
  /** Reasons of its Warning Events. */
  readonly reasons: readonly string[];
  /** What its Warning Events say, if it did not get what it asks for. */
  readonly error: string;
  /** The IP objects of what it holds. */
  readonly ips: readonly KubeObject[];
}

/** Looks at a Pod, also at one that is gone by now. */
export async function lookAt(trial: Trial, pod: KubeObject): Promise<PodSeen> {
  const { namespace = '', name, uid } = pod.metadata;
  const { ledgerName, identity } = asMachine(toPod(pod));
  const [now, events, { allocations }, ips] = await Promise.all([
    trial.objects.find({ kind: 'Pod', namespace, name }),
    trial.objects.said(pod),
    trial.served.call(IpamService.list, { namespace, pod: ledgerName }),
    trial.objects.list('IP'),
  ]);
  const annotations = (now?.metadata.uid === uid ? now : pod).metadata.annotations ?? {};
  const own = allocations.filter(({ podUid }) => podUid === identity);
  const warnings = events.filter(({ type }) => type === 'Warning');
  // That a network is not served refuses nothing: the Pod asks for no address of it.
  const refusals = warnings.filter(({ reason }) => reason !== 'PodNetworkNotServed');
  return {
    annotations,
    allocations: own,
    reasons: warnings.map(({ reason }) => reason),
    error: own.length > 0 ? '' : refusals.map(({ message }) => message).join('; '),
    ips: ips.filter(
      ({ spec }) => textOf(spec?.['podName']) === ledgerName && textOf(spec?.['namespace']) === namespace,
    ),
  };
}

/** Waits, outside any case's patience, until a Pod holds something. @throws Error when it gets nothing. */
export async function untilHolding(trial: Trial, pod: KubeObject, patienceMs = 60_000): Promise<Allocation> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { allocations, error } = await lookAt(trial, pod);
    const [first] = allocations;
    if (first) return first;
    if (performance.now() > deadline)
      throw new Error(`Pod ${pod.metadata.name} got no address${error === '' ? '' : `: ${error}`}`);
    await sleep(20);
  }
}

/** The addresses of an allocation, v4 first, joined with a comma. */
export const addressesOf = ({ addresses }: Allocation): string => addresses.map(({ address }) => address).join(',');
