/** The steps of alloc-* and ippool: what each asks a served allocator, through its API, and what came of it. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import { type AllocateRequest, type AttachmentRequest, IpamService, SubnetsService } from '../../../proto/ipledger.ts';
import { type Served, serveAllocator } from '../../../services/allocator/grpc/specification.ts';
import { ownerOf } from '../../../services/pod-watcher/intent/owner.ts';
import { type Case, notUnderstood, understandOnly } from '../case.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf } from '../json.ts';
import { countsOf, without } from './counts.ts';
import { configure, refusalOf, specKeys, understandSpec } from './ledger.ts';
import { type Launchers, launchersIn } from './launchers.ts';
import { minusRanges, unionOfRanges } from './ranges.ts';

/** What a Pod's NIC has asked for last, and under which uid. */
interface Nic {
  readonly provider: string;
  readonly ordinal: number;
  generation: number;
  asked: string;
  /** The allocation that it has. */
  seq: number;
}

/** Steps under way. */
export interface Play {
  readonly served: Served;
  /** The subnet of a step that names none. */
  readonly first: string;
  /** Behind a subnet's name, its provider. */
  readonly suffix: string;
  readonly launchers: Launchers;
  readonly nics: Map<string, Nic>;
}

/** Runs a body on an allocator that has a case's subnets. @throws IpledgerError when one of them is refused. */
export async function play<T>(
  subnets: readonly Fields[],
  { when }: Case,
  body: (play: Play) => Promise<T>,
): Promise<T> {
  const steps = listOf(when['steps']).map(fieldsOf);
  // Kube-OVN's own NICs have a MAC each; a request for none is how NICs of other plugins are told.
  const suffix = steps.some(({ mac }) => mac === '') ? '.conformance' : '.conformance.ovn';
  const named = subnets.map((spec, index) => ({
    ...spec,
    name: textOf(spec['name']) || (index === 0 ? 's' : `s${index}`),
  }));
  await using served = await serveAllocator();
  for (const spec of named) {
    understandSpec(spec);
    await configure(served, spec.name, { provider: `${spec.name}${suffix}`, ...spec });
  }
  const first = named[0]?.name ?? '';
  return await body({ served, first, suffix, launchers: launchersIn(steps), nics: new Map() });
}

type Operation = (play: Play, step: Fields) => Promise<Fields>;

const subnetOf = ({ first }: Play, step: Fields): string => textOf(step['subnet']) || first;

const operations: Readonly<Record<string, Operation>> = {
  random: (playing, step) => allocate(playing, step, []),
  static: (playing, step) =>
    allocate(playing, step, [
      {
        addresses: textOf(step['ip'])
          .split(',')
          .map((ip) => ip.trim()),
      },
    ]),
  release,
  updateSubnet: async (playing, { op: _, subnet: _subnet, ...spec }) => {
    const name = subnetOf(playing, { subnet: _subnet ?? '' });
    understandSpec(spec);
    await configure(playing.served, name, { provider: `${name}${playing.suffix}`, ...spec });
    return {};
  },
  upsertPool: async (playing, step) => {
    const spec = { subnet: subnetOf(playing, step), ips: textsOf(step['ips']) };
    await playing.served.call(SubnetsService.applyPool, { name: textOf(step['name']), spec });
    return {};
  },
  removePool: async ({ served }, step) => {
    await served.call(SubnetsService.deletePool, { name: textOf(step['name']) });
    return {};
  },
  stats: statistics,
  subnetRanges: async (playing, step) => {
    const { subnet } = await playing.served.call(SubnetsService.getSubnet, { name: subnetOf(playing, step) });
    const excluded = unionOfRanges(textsOf(step['excludeIps']));
    const cut = Object.entries(countsOf(subnet?.usage ?? [])).map(([key, value]) =>
      key.endsWith('Range') ? [key, minusRanges(textOf(value), excluded).text] : [key, value],
    );
    return Object.fromEntries(cut) as Fields;
  },
  owner: async (playing, step) => {
    const where = { subnet: subnetOf(playing, step), address: textOf(step['ip']) };
    const { record } = await playing.served.call(IpamService.get, where);
    const holder = record?.allocation?.attachment;
    return { owner: holder ? playing.launchers.seenAs(`${holder.namespace}/${holder.pod}`) : '' };
  },
};

const stepKeys = ['op', 'pod', 'subnet', 'nic', 'mac', 'pool', 'family', 'skip', 'ip', 'checkConflict', 'ips'];

/** Carries out a step; a refusal is a result, too. @throws CannotExecute */
export async function resultOf(playing: Play, step: Fields): Promise<Fields> {
  const operation = operations[textOf(step['op'])];
  if (!operation) throw notUnderstood('step', step['op']);
  understandOnly('step field', step, [...stepKeys, ...specKeys]);
  try {
    return await operation(playing, step);
  } catch (thrown) {
    return refusalOf(thrown);
  }
}

function nicOf({ nics, suffix }: Play, { pod, nic, subnet }: { pod: string; nic: string; subnet: string }): Nic {
  const key = `${subnet}|${pod}|${nic}`;
  let known = nics.get(key);
  if (!known) {
    const ordinal = [...nics.keys()].filter((other) => other.startsWith(`${subnet}|${pod}|`)).length;
    nics.set(key, (known = { provider: `${subnet}${suffix}`, ordinal, generation: 0, asked: '', seq: 0 }));
  }
  return known;
}

/**
 * A NIC that asks for something else than before is that of a Pod which was made anew under its name: a Pod that has its
 * address keeps it, whatever its annotations say by then. One that asks for nothing in particular may be the same Pod again.
 */
function generationOf(nic: Nic, step: Fields): void {
  const { ip = '', mac = '', family = '', pool = '' } = step;
  const asked = JSON.stringify([ip, mac, family, pool]);
  const [, , familyBefore] = JSON.parse(nic.asked || '["","","",""]') as [string, string, string, string];
  const plain = step['op'] === 'random' && mac === '' && pool === '' && family === familyBefore;
  if (nic.asked !== '' && nic.asked !== asked && !plain) nic.generation += 1;
  nic.asked = asked;
}

const uidOf = (pod: string, { generation }: Nic): string => `uid-${generation}-of-${pod.replace('/', '-')}`;

/** Who a Pod is to the ledger. */
function identityOf({ launchers }: Play, pod: string, nic: Nic): NonNullable<Input<AllocateRequest>['pod']> {
  const launcher = launchers.of(pod);
  if (launcher) {
    const { namespace, ledgerName: name, identity: uid } = launcher;
    return { namespace, name, uid, owner: ownerOf(launcher) };
  }
  const [namespace = '', name = ''] = pod.split('/');
  return { namespace, name, uid: uidOf(pod, nic) };
}

async function allocate(
  playing: Play,
  step: Fields,
  candidates: NonNullable<Input<AttachmentRequest>['candidates']>,
): Promise<Fields> {
  const { served } = playing;
  const [pod, subnet] = [textOf(step['pod']), subnetOf(playing, step)];
  const nic = nicOf(playing, { pod, nic: textOf(step['nic']) || pod, subnet });
  generationOf(nic, step);
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
  playing.launchers.start(pod);
  const request = { pod: identityOf(playing, pod, nic), attachments: [attachment] };
  const { allocations } = await skipping(served, { subnet, addresses: textsOf(step['skip']) }, () =>
    served.call(IpamService.allocate, request),
  );
  const [allocation] = allocations;
  nic.seq = allocation?.seq ?? 0;
  const texts = (allocation?.addresses ?? []).map(({ address }) => address);
  const of = (six: boolean): string => texts.find((text) => text.includes(':') === six) ?? '';
  return { v4: of(false), v6: of(true), mac: allocation?.mac ?? '' };
}

/** Addresses that the caller found to be of no use are in quarantine meanwhile. */
async function skipping<T>(
  served: Served,
  { subnet, addresses }: { subnet: string; addresses: readonly string[] },
  work: () => Promise<T>,
): Promise<T> {
  for (const address of addresses) await served.call(IpamService.quarantine, { subnet, address, reason: 'skipped' });
  try {
    return await work();
  } finally {
    for (const address of addresses) await served.call(IpamService.lift, { subnet, address, reason: 'skipped' });
  }
}

/** Of one NIC where the step names it, else of the whole Pod. */
async function release(playing: Play, step: Fields): Promise<Fields> {
  const [pod, subnet] = [textOf(step['pod']), subnetOf(playing, step)];
  if (playing.launchers.end(pod)) return {};
  const whole = [...playing.nics].filter(([key]) => key.startsWith(`${subnet}|${pod}|`)).map(([, nic]) => nic);
  const one = step['nic'] === undefined ? undefined : nicOf(playing, { pod, nic: textOf(step['nic']), subnet });
  // One that was never heard of is released like any other.
  const unheardOf = { provider: '', ordinal: 0, generation: 0, asked: '', seq: 0 };
  for (const nic of one ? [one] : whole.length > 0 ? whole : [unheardOf]) {
    const { namespace, name, uid } = identityOf(playing, pod, nic);
    const ending = { cause: 'RELEASE_CAUSE_POD_DELETED', allocationSeq: nic.seq } as const;
    await playing.served.call(IpamService.release, { namespace, pod: name, podUid: uid, ...ending });
  }
  return {};
}

/** Without a pool, or of the pool '': what belongs to no pool. */
async function statistics(playing: Play, step: Fields): Promise<Fields> {
  const { served } = playing;
  const [subnet, named] = [subnetOf(playing, step), textOf(step['pool'])];
  if (named !== '') return countsOf(await usageOfPool(served, named));
  const { subnet: found } = await served.call(SubnetsService.getSubnet, { name: subnet });
  const whole = countsOf(found?.usage ?? []);
  const pools = await poolsOf(served, subnet);
  return pools.length === 0 ? whole : without(whole, pools);
}

/** A pool that there is not has nothing. */
async function usageOfPool(served: Served, name: string) {
  try {
    return (await served.call(SubnetsService.getPool, { name })).pool?.usage ?? [];
  } catch (thrown) {
    if (IpledgerError.from(thrown).code === 'NOT_IMPLEMENTED') throw thrown;
    return [];
  }
}

async function poolsOf(served: Served, subnet: string): Promise<Fields[]> {
  try {
    const { pools } = await served.call(SubnetsService.listPools, {});
    return pools.filter(({ spec }) => spec?.subnet === subnet).map(({ usage }) => countsOf(usage));
  } catch (thrown) {
    if (IpledgerError.from(thrown).code === 'NOT_IMPLEMENTED') return []; // so there are none
    throw thrown;
  }
}
