/** The steps of alloc-* and ippool: each is a request to an allocator's API, and its result. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import {
  type AllocateRequest,
  type AttachmentRequest,
  IpamService,
  SubnetsService,
} from '../../../proto/generated/ipledger.ts';
import { type ServedAllocator, serveAllocator } from '../../../services/allocator/grpc/testing/served-allocator.ts';
import { ownerOf } from '../../../services/pod-watcher/controllers/pods/pod-owner.ts';
import { type Case, unsupportedError, rejectUnknownKeys } from '../case.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf } from '../../harness/json.ts';
import { formatCounts, subtractPools } from './address-counts.ts';
import { applySubnet, formatRefusal, specKeys, rejectUnknownSpecKeys } from './case-subnets.ts';
import { type VmLaunchers, parseVmLaunchers } from './vm-launchers.ts';
import { subtractRanges, unionOfRanges } from './address-ranges.ts';

/** The last request of a Pod's NIC, and its uid. */
interface Nic {
  readonly provider: string;
  readonly ordinal: number;
  generation: number;
  lastRequest: string;
  /** The seq of its allocation. */
  seq: number;
}

/** State of the steps of one case. */
export interface StepContext {
  readonly served: ServedAllocator;
  /** The subnet of a step without a subnet. */
  readonly first: string;
  /** A subnet's name and this suffix are its provider. */
  readonly suffix: string;
  readonly launchers: VmLaunchers;
  readonly nics: Map<string, Nic>;
}

/**
 * Runs `body` with an allocator that has the case's subnets.
 * @throws IpledgerError when a subnet is rejected
 */
export async function withAllocator<T>(
  subnets: readonly Fields[],
  { when }: Case,
  body: (stepContext: StepContext) => Promise<T>,
): Promise<T> {
  const steps = listOf(when['steps']).map(fieldsOf);
  // NICs of an OVN provider have a MAC; a request with an empty MAC is one of another plugin.
  const suffix = steps.some(({ mac }) => mac === '') ? '.conformance' : '.conformance.ovn';
  const named = subnets.map((spec, index) => ({
    ...spec,
    name: textOf(spec['name']) || (index === 0 ? 's' : `s${index}`),
  }));
  await using served = await serveAllocator();
  for (const spec of named) {
    rejectUnknownSpecKeys(spec);
    await applySubnet(served, spec.name, { provider: `${spec.name}${suffix}`, ...spec });
  }
  const first = named[0]?.name ?? '';
  return await body({ served, first, suffix, launchers: parseVmLaunchers(steps), nics: new Map() });
}

type Operation = (stepContext: StepContext, step: Fields) => Promise<Fields>;

const subnetOf = ({ first }: StepContext, step: Fields): string => textOf(step['subnet']) || first;

const operations: Readonly<Record<string, Operation>> = {
  random: (stepContext, step) => allocate(stepContext, step, []),
  static: (stepContext, step) =>
    allocate(stepContext, step, [
      {
        addresses: textOf(step['ip'])
          .split(',')
          .map((ip) => ip.trim()),
      },
    ]),
  release,
  updateSubnet: async (stepContext, { op: _, subnet: _subnet, ...spec }) => {
    const name = subnetOf(stepContext, { subnet: _subnet ?? '' });
    rejectUnknownSpecKeys(spec);
    await applySubnet(stepContext.served, name, { provider: `${name}${stepContext.suffix}`, ...spec });
    return {};
  },
  upsertPool: async (stepContext, step) => {
    const spec = { subnet: subnetOf(stepContext, step), ips: textsOf(step['ips']) };
    await stepContext.served.call(SubnetsService.applyPool, { name: textOf(step['name']), spec });
    return {};
  },
  removePool: async ({ served }, step) => {
    await served.call(SubnetsService.deletePool, { name: textOf(step['name']) });
    return {};
  },
  stats: statistics,
  subnetRanges: async (stepContext, step) => {
    const { subnet } = await stepContext.served.call(SubnetsService.getSubnet, { name: subnetOf(stepContext, step) });
    const excluded = unionOfRanges(textsOf(step['excludeIps']));
    const cut = Object.entries(formatCounts(subnet?.usage ?? [])).map(([key, value]) =>
      key.endsWith('Range') ? [key, subtractRanges(textOf(value), excluded).text] : [key, value],
    );
    return Object.fromEntries(cut) as Fields;
  },
  owner: async (stepContext, step) => {
    const where = { subnet: subnetOf(stepContext, step), address: textOf(step['ip']) };
    const { record } = await stepContext.served.call(IpamService.getAddress, where);
    const holder = record?.allocation?.attachment;
    return { owner: holder ? stepContext.launchers.visiblePodOf(`${holder.namespace}/${holder.pod}`) : '' };
  },
};

const stepKeys = ['op', 'pod', 'subnet', 'nic', 'mac', 'pool', 'family', 'skip', 'ip', 'checkConflict', 'ips'];

/** Executes a step; resolves to the error if it is rejected. @throws UnsupportedCaseError */
export async function executeStep(stepContext: StepContext, step: Fields): Promise<Fields> {
  const operation = operations[textOf(step['op'])];
  if (!operation) throw unsupportedError('step', step['op']);
  rejectUnknownKeys('step field', step, [...stepKeys, ...specKeys]);
  try {
    return await operation(stepContext, step);
  } catch (thrown) {
    return formatRefusal(thrown);
  }
}

function nicOf({ nics, suffix }: StepContext, { pod, nic, subnet }: { pod: string; nic: string; subnet: string }): Nic {
  const key = `${subnet}|${pod}|${nic}`;
  let known = nics.get(key);
  if (!known) {
    const ordinal = [...nics.keys()].filter((other) => other.startsWith(`${subnet}|${pod}|`)).length;
    nics.set(key, (known = { provider: `${subnet}${suffix}`, ordinal, generation: 0, lastRequest: '', seq: 0 }));
  }
  return known;
}

/**
 * Sets the NIC's generation. A NIC whose request has changed belongs to a new Pod of the same name,
 * because a Pod keeps its address when its annotations change. A request without details may be of
 * the same Pod.
 */
function updateGeneration(nic: Nic, step: Fields): void {
  const { ip = '', mac = '', family = '', pool = '' } = step;
  const request = JSON.stringify([ip, mac, family, pool]);
  const [, , familyBefore] = JSON.parse(nic.lastRequest || '["","","",""]') as [string, string, string, string];
  const isPlain = step['op'] === 'random' && mac === '' && pool === '' && family === familyBefore;
  if (nic.lastRequest !== '' && nic.lastRequest !== request && !isPlain) nic.generation += 1;
  nic.lastRequest = request;
}

const uidOf = (pod: string, { generation }: Nic): string => `uid-${generation}-of-${pod.replace('/', '-')}`;

/** The identity of a Pod in the ledger. */
function identityOf(
  { launchers }: StepContext,
  pod: string,
  nic: Nic,
): NonNullable<MessageInput<AllocateRequest>['pod']> {
  const launcher = launchers.launcherOf(pod);
  if (launcher) {
    const { namespace, ledgerName: name, ledgerUid: uid } = launcher;
    return { namespace, name, uid, owner: ownerOf(launcher) };
  }
  const [namespace = '', name = ''] = pod.split('/');
  return { namespace, name, uid: uidOf(pod, nic) };
}

async function allocate(
  stepContext: StepContext,
  step: Fields,
  candidates: NonNullable<MessageInput<AttachmentRequest>['candidates']>,
): Promise<Fields> {
  const { served } = stepContext;
  const [pod, subnet] = [textOf(step['pod']), subnetOf(stepContext, step)];
  const nic = nicOf(stepContext, { pod, nic: textOf(step['nic']) || pod, subnet });
  updateGeneration(nic, step);
  const { provider, ordinal } = nic;
  const attachment = {
    provider,
    ordinal,
    subnets: [subnet],
    candidates,
    mac: textOf(step['mac']),
    pool: textOf(step['pool']),
    ipFamily: textOf(step['family']),
  };
  stepContext.launchers.add(pod);
  const request = { pod: identityOf(stepContext, pod, nic), attachments: [attachment] };
  const { allocations } = await withSkipped(served, { subnet, addresses: textsOf(step['skip']) }, () =>
    served.call(IpamService.allocate, request),
  );
  const [allocation] = allocations;
  nic.seq = allocation?.seq ?? 0;
  const texts = (allocation?.addresses ?? []).map(({ address }) => address);
  const of = (six: boolean): string => texts.find((text) => text.includes(':') === six) ?? '';
  return { v4: of(false), v6: of(true), mac: allocation?.mac ?? '' };
}

/** Quarantines the skipped addresses during `work`. */
async function withSkipped<T>(
  served: ServedAllocator,
  { subnet, addresses }: { subnet: string; addresses: readonly string[] },
  work: () => Promise<T>,
): Promise<T> {
  for (const address of addresses) await served.call(IpamService.quarantine, { subnet, address, reason: 'skipped' });
  try {
    return await work();
  } finally {
    for (const address of addresses)
      await served.call(IpamService.unquarantine, { subnet, address, reason: 'skipped' });
  }
}

/**
 * Releases the NIC that the step names, else all NICs of the Pod. Cases have no uids, so the Pod
 * may request addresses again.
 */
async function release(stepContext: StepContext, step: Fields): Promise<Fields> {
  const [pod, subnet] = [textOf(step['pod']), subnetOf(stepContext, step)];
  if (stepContext.launchers.remove(pod)) return {};
  const nics = [...stepContext.nics].filter(([key]) => key.startsWith(`${subnet}|${pod}|`)).map(([, nic]) => nic);
  const one = step['nic'] === undefined ? undefined : nicOf(stepContext, { pod, nic: textOf(step['nic']), subnet });
  // An unknown Pod is released like any other.
  const unknown = { provider: '', ordinal: 0, generation: 0, lastRequest: '', seq: 0 };
  for (const nic of one ? [one] : nics.length > 0 ? nics : [unknown]) {
    const { namespace, name, uid } = identityOf(stepContext, pod, nic);
    const ending = { cause: 'RELEASE_CAUSE_DETACHED', allocationSeq: nic.seq } as const;
    await stepContext.served.call(IpamService.release, { namespace, pod: name, podUid: uid, ...ending });
  }
  return {};
}

/** Counts the addresses of a pool; without a pool (''), those outside of pools. */
async function statistics(stepContext: StepContext, step: Fields): Promise<Fields> {
  const { served } = stepContext;
  const [subnet, named] = [subnetOf(stepContext, step), textOf(step['pool'])];
  if (named !== '') return formatCounts(await usageOfPool(served, named));
  const { subnet: found } = await served.call(SubnetsService.getSubnet, { name: subnet });
  const subnetCounts = formatCounts(found?.usage ?? []);
  const pools = await poolsOf(served, subnet);
  return pools.length === 0 ? subnetCounts : subtractPools(subnetCounts, pools);
}

/** Reads the usage of a pool; [] for an absent pool. */
async function usageOfPool(served: ServedAllocator, name: string) {
  try {
    return (await served.call(SubnetsService.getPool, { name })).pool?.usage ?? [];
  } catch (thrown) {
    if (IpledgerError.from(thrown).code === 'NOT_IMPLEMENTED') throw thrown;
    return [];
  }
}

async function poolsOf(served: ServedAllocator, subnet: string): Promise<Fields[]> {
  try {
    const { pools } = await served.call(SubnetsService.listPools, {});
    return pools.filter(({ spec }) => spec?.subnet === subnet).map(({ usage }) => formatCounts(usage));
  } catch (thrown) {
    if (IpledgerError.from(thrown).code === 'NOT_IMPLEMENTED') return []; // an allocator without pools
    throw thrown;
  }
}
