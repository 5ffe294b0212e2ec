/** Gives a Pod the addresses of all its attachments, or none. */
import type { Allocate, AttachmentRequest } from '../command.ts';
import type { Allocation } from '../claim.ts';
import {
  type AddressAllocated,
  type AssignedAddress,
  type Attachment,
  type Event,
  familyOf,
  type Grant,
} from '../event.ts';
import { claimKey } from '../journal.ts';
import { networkOf } from '../network.ts';
import { Refused } from '../refusal.ts';
import { allocationOf, attachmentKey, claimOf, podKey, type State } from '../state.ts';
import { entitlementsOf, reservedIn } from './entitlement.ts';
import { isOf } from './family.ts';
import { refuseFenced } from './fence.ts';
import { macFor, readMac } from './mac.ts';
import { assigned, isInPool, isKeepable, keysTaken, pick, type Picked, type Search } from './pick.ts';
import { noSubnet } from './reasons.ts';
import { mayKeep, refuseForeignPool, Tenant } from './tenancy.ts';

/**
 * What the Pod uid holds already is kept as it is, also if the request differs by then; what another uid of the same Pod name
 * holds is passed on if it still fits, since two Pods of one name cannot exist at a time.
 * @throws Refused
 */
export function allocate(state: State, command: Allocate): Event[] {
  if (command.deadline !== undefined && command.now > command.deadline)
    throw new Refused('DEADLINE_PASSED', `the request for Pod ${describe(command)} came too late: ask again`);
  const events: Event[] = [];
  const taken = new Set<string>();
  const tenant = new Tenant(command.pod.namespace, command.import ?? false);
  for (const request of command.attachments) {
    const attachment: Attachment = {
      namespace: command.pod.namespace,
      pod: command.pod.name,
      provider: request.provider,
      ordinal: request.ordinal,
    };
    const held = allocationOf(state, attachment);
    if (held?.uid === command.pod.uid) continue;
    if (held) refuseSuperseded(state, held, command);
    events.push(
      ...naming(attachment, command, () => eventsFor(state, command, { request, attachment, held, taken, tenant })),
    );
  }
  return events;
}

/** A refusal says which attachment it is about; to a person only where there are several. */
function naming<Result>(attachment: Attachment, { attachments }: Allocate, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    const { code, message } = thrown.refusal;
    const which = attachments.length > 1 ? `attachment ${attachmentKey(attachment)}: ` : '';
    throw new Refused(code, which + message, attachment);
  }
}

interface Wanted {
  readonly request: AttachmentRequest;
  readonly attachment: Attachment;
  /** What an earlier Pod of the same name holds still. */
  readonly held: Allocation | undefined;
  /** Addresses (`keysTaken`) and MACs ("network/mac") that earlier attachments of this command take; added to. */
  readonly taken: Set<string>;
  /** Counts what this command takes; added to. */
  readonly tenant: Tenant;
}

function eventsFor(state: State, command: Allocate, wanted: Wanted): Event[] {
  const { request, attachment, held, taken } = wanted;
  // What cannot be read is said before anything else.
  readMac(request.mac);
  const entitlements = entitlementsOf(attachment, request);
  const search = { attachment, entitlements, held, taken };
  for (const { address } of held?.addresses ?? []) refuseFenced(state, held?.subnet ?? '', address);
  if (held && fits(state, held, request, entitlements)) {
    const addresses = asInForce(state, held);
    const mac = macFor(state, request, { ...search, subnet: held.subnet, addresses });
    const grant = grantOf(command, { request, attachment, mac }, addresses, held.cause);
    const passedOn = { ...grant, interface: request.interface || held.interface, alloc: held.seq, fromUid: held.uid };
    return [{ type: 'AddressTransferred', subnet: held.subnet, data: passedOn }];
  }
  if (held) wanted.tenant.add(held.subnet, -held.addresses.length);
  const { configured, addresses } = choose(state, command, wanted, entitlements);
  const subnet = configured.subnet.name;
  const mac = macFor(state, request, { ...search, subnet, addresses });
  const networks = [networkOf(attachment.provider, subnet), configured.subnet.network];
  for (const { address } of addresses) for (const key of keysTaken(subnet, networks, address)) taken.add(key);
  wanted.tenant.add(subnet, addresses.length);
  const cause = causeOf(state, command, request, { subnet, addresses });
  const allocated: AddressAllocated = {
    type: 'AddressAllocated',
    subnet,
    data: grantOf(command, { request, attachment, mac }, addresses, cause),
  };
  if (!held) return [allocated];
  const instead = { ...allocated, data: { ...allocated.data, supersedes: held.uid } };
  return [supersede(held, command.pod.uid), instead];
}

/** A request that was under way while the Pod was deleted and made again. @throws Refused POD_SUPERSEDED */
function refuseSuperseded(state: State, { uid, seq, superseded = [] }: Allocation, command: Allocate): void {
  const { namespace, name, uid: asking } = command.pod;
  const released = state.released.get(podKey(namespace, name)) ?? [];
  if (superseded.includes(asking) || released.some((each) => each.uid === asking && each.seq < seq))
    throw new Refused(
      'POD_SUPERSEDED',
      `Pod ${describe(command)} was superseded by uid ${uid}, which holds what it requests: an earlier Pod of the name gets nothing. Delete the Pod if it is still there`,
    );
}

function causeOf(
  state: State,
  command: Allocate,
  { candidates, pool }: AttachmentRequest,
  { subnet, addresses }: { readonly subnet: string; readonly addresses: readonly AssignedAddress[] },
): Grant['cause'] {
  if (command.import) return 'import';
  if (addresses.some(({ address }) => claimOf(state, subnet, address)?.reservation)) return 'reservation';
  if (pool !== '' || candidates.length > 1) return 'pool';
  return candidates.length === 1 ? 'static' : 'dynamic';
}

/** What is asked for by name; else what is reserved for it; else any that is free. */
function choose(
  state: State,
  command: Allocate,
  { request, attachment, held, taken, tenant }: Wanted,
  entitlements: ReadonlySet<string>,
): Picked {
  const { candidates, pool, ipFamily } = request;
  const { now, import: imports = false } = command;
  const subnets = subnetsFor(state, command, request);
  const networkIn = (subnet: string): string => networkOf(attachment.provider, subnet);
  refuseForeignPool(state, pool, tenant);
  const own = held;
  const search = { subnets, networkIn, pool, ipFamily, entitlements, own, taken, exactly: imports, now, tenant };
  if (imports && candidates.length !== 1)
    throw new Refused('INVALID_REQUEST', 'an import names the addresses that the attachment has, and no others');
  if (candidates.length > 0) return pick(state, search, candidates);
  for (const configured of subnets) {
    const reserved = reservedFor(state, configured.subnet.name, search, attachment);
    if (reserved.length > 0) return pick(state, { ...search, subnets: [configured] }, [reserved]);
  }
  if (request.reservation !== '')
    throw new Refused(
      'RESERVATION_UNKNOWN',
      `nothing is reserved for ${request.reservation} in subnet ${subnets.map(({ subnet }) => subnet.name).join(' or ')} that Pod ${describe(command)} could take: reserve an address first`,
    );
  return pick(state, search, []);
}

/** @throws Refused SUBNET_UNKNOWN, POOL_UNKNOWN */
function subnetsFor(state: State, command: Allocate, { subnets: names, pool }: AttachmentRequest): Search['subnets'] {
  const subnets = names.flatMap((name) => state.subnets.get(name) ?? []);
  if (subnets.length === 0) {
    const { refusal } = noSubnet(names.join(' or ') || '(none named)');
    throw new Refused(refusal.code, `${refusal.message}, which Pod ${describe(command)} asks for`);
  }
  if (pool === '') return subnets;
  const home = state.pools.get(pool)?.spec.subnet;
  const its = subnets.filter(({ subnet }) => subnet.name === home);
  if (its.length > 0) return its;
  throw new Refused(
    'POOL_UNKNOWN',
    `no ippool ${pool} is configured in subnet ${subnets.map(({ subnet }) => subnet.name).join(' or ')}${home === undefined ? '' : `: it belongs to subnet ${home}`}`,
  );
}

/** What of a subnet is reserved for the attachment, at most one address of each family; one that nobody has before others. */
function reservedFor(
  state: State,
  subnet: string,
  { entitlements, pool, ipFamily, own, taken }: Search,
  { namespace, pod }: Attachment,
): string[] {
  const holderOf = (address: string): Allocation | undefined => {
    const holder = claimOf(state, subnet, address)?.allocation;
    return holder?.seq === own?.seq ? undefined : holder;
  };
  const isOurs = (address: string): boolean => {
    const attachment = holderOf(address)?.attachment;
    return attachment?.namespace === namespace && attachment.pod === pod;
  };
  const all = [...entitlements].flatMap((text) => reservedIn(state, subnet, text)).map(({ address }) => address);
  const usable = all.filter(
    (address) =>
      isOf(familyOf(address), ipFamily) &&
      isInPool(state, pool, address) &&
      !taken.has(claimKey({ subnet, address })) &&
      !isOurs(address),
  );
  return ([4, 6] as const).flatMap((family) => {
    const each = usable.filter((address) => familyOf(address) === family);
    return each.find((address) => !holderOf(address)) ?? each[0] ?? [];
  });
}

/** What is held, with CIDR and gateway as the subnet has them now: they may have changed since it was given. */
function asInForce(state: State, { subnet, addresses }: Allocation): readonly AssignedAddress[] {
  const spaces = state.subnets.get(subnet)?.spaces ?? [];
  return addresses.map((known) => {
    const space = spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(known.address));
    return space ? assigned(space, known.address) : known;
  });
}

/** Whether what is held is what would be asked for. */
function fits(
  state: State,
  held: Allocation,
  { subnets, candidates, pool, ipFamily, reservation }: AttachmentRequest,
  entitlements: ReadonlySet<string>,
): boolean {
  const { subnet } = held;
  const spaces = state.subnets.get(subnet)?.spaces;
  if (!spaces || !subnets.includes(subnet)) return false;
  const addresses = held.addresses.map(({ address }) => address);
  const wanted = spaces.map(({ subnetFamily }) => subnetFamily.family).filter((family) => isOf(family, ipFamily));
  const keeps = (address: string): boolean =>
    isInPool(state, pool, address) &&
    isKeepable(state, { subnet, address }, { entitlements }) &&
    (claimOf(state, subnet, address)?.reservation !== undefined ||
      mayKeep(state, spaces, address, held.attachment.namespace));
  const reserved = addresses.map((address) => claimOf(state, subnet, address)?.reservation?.reservedFor);
  return (
    wanted.join() === addresses.map(familyOf).join() &&
    addresses.every(keeps) &&
    (reservation === '' || reserved.includes(reservation)) &&
    (candidates.length === 0 || candidates.some((set) => set.every((address) => addresses.includes(address))))
  );
}

function supersede(held: Allocation, uid: string): Event {
  const addresses = held.addresses.map(({ address }) => address);
  const evidence = `the name belongs to Pod uid ${uid} now, which asks for something else`;
  const { attachment, seq: alloc } = held;
  const data = { alloc, attachment, uid: held.uid, addresses, cause: 'pod-deleted', evidence } as const;
  return { type: 'AddressReleased', subnet: held.subnet, data };
}

function grantOf(
  { pod }: Allocate,
  { request, attachment, mac }: { request: AttachmentRequest; attachment: Attachment; mac: string },
  addresses: readonly AssignedAddress[],
  cause: Grant['cause'],
): Grant {
  return {
    attachment,
    uid: pod.uid,
    ...(pod.owner && { owner: pod.owner }),
    node: pod.node,
    addresses,
    mac,
    interface: request.interface,
    cause,
    routes: request.routes,
    ...(request.defaultRoute !== undefined && { defaultRoute: request.defaultRoute }),
  };
}

const describe = ({ pod }: Allocate): string => `${pod.namespace}/${pod.name} (uid ${pod.uid})`;
