/** Allocates addresses for all attachments of a Pod, or for none. */
import type { Allocate, AttachmentRequest } from '../commands/command.ts';
import { spaceOfFamily } from '../state/address-pools/address-space.ts';
import { type Allocation, claimKey } from '../state/claim.ts';
import type { AddressAllocated, Event } from '../events/event.ts';
import { familyOf } from '../addresses/address.ts';
import type { AssignedAddress, Attachment, Grant } from '../values/allocation.ts';
import { networkOf } from '../state/network.ts';
import { isInPool } from '../state/pool.ts';
import { Refused } from '../commands/refusal.ts';
import { allocationOf, attachmentKey, claimOf, type State } from '../state/state.ts';
import { endOf, refuseEnded, refuseOutdated } from './rules/ended-pods.ts';
import { entitlementsOf, reservedAddressesFor } from './rules/entitlement.ts';
import { matchesIpFamily } from './rules/ip-family.ts';
import { refuseFenced } from './rules/fence.ts';
import { mayKeepAddress } from './rules/keep-address.ts';
import { selectMac, parseMac } from './rules/mac.ts';
import {
  toAssignedAddress,
  takenKeys,
  selectAddresses,
  type SelectedAddresses,
  type AddressSearch,
} from './rules/select-address.ts';
import { subnetUnknown } from './rules/refusal-messages.ts';
import { refuseForeignPool, Tenant } from './rules/tenancy.ts';

/**
 * Keeps an allocation of the same Pod uid as it is, even if the request has changed. Transfers an
 * allocation of an earlier uid of the same Pod name if it fits the request, because two Pods of one
 * name cannot exist at the same time.
 * @throws Refused
 */
export function allocate(state: State, command: Allocate): Event[] {
  if (command.deadline !== undefined && command.now > command.deadline)
    throw new Refused(
      'DEADLINE_PASSED',
      `the request for Pod ${describe(command)} arrived after its deadline: send it again`,
    );
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
    if (events.length === 0) {
      refuseEnded(state, command);
      refuseOutdated(state, command);
    }
    events.push(
      ...withAttachment(attachment, command, () =>
        eventsFor(state, command, { request, attachment, held, taken, tenant }),
      ),
    );
  }
  return events;
}

/** Names the attachment in a refusal, and in its message if the command has several. */
function withAttachment<Result>(attachment: Attachment, { attachments }: Allocate, decideOne: () => Result): Result {
  try {
    return decideOne();
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    const { code, message } = thrown.refusal;
    const which = attachments.length > 1 ? `attachment ${attachmentKey(attachment)}: ` : '';
    throw new Refused(code, which + message, attachment);
  }
}

interface AttachmentTask {
  readonly request: AttachmentRequest;
  readonly attachment: Attachment;
  /** The allocation that an earlier Pod of the same name holds. */
  readonly held: Allocation | undefined;
  /** Addresses (as `takenKeys`) and MACs ("network/mac") that this command already allocates. */
  readonly taken: Set<string>;
  /** Counts the addresses that this command allocates. Updated in place. */
  readonly tenant: Tenant;
}

function eventsFor(state: State, command: Allocate, task: AttachmentTask): Event[] {
  const { request, attachment, held, taken } = task;
  // Rejects an invalid MAC before any other problem.
  parseMac(request.mac);
  const entitlements = entitlementsOf(attachment, request);
  const search = { attachment, entitlements, held, taken, now: command.now };
  for (const { address } of held?.addresses ?? []) refuseFenced(state, held?.subnet ?? '', address);
  if (held && fits(state, held, request, entitlements)) {
    const addresses = refreshAddresses(state, held);
    const mac = selectMac(state, request, { ...search, subnet: held.subnet, addresses });
    const grant = grantOf(command, { request, attachment, mac }, addresses, held.cause);
    const transferred = {
      ...grant,
      alloc: held.seq,
      fromUid: held.uid,
      ...endOf(held.uid, 'pod-deleted'),
    };
    return [{ type: 'AddressTransferred', subnet: held.subnet, data: transferred }];
  }
  if (held) task.tenant.add(held.subnet, -held.addresses.length);
  const { configured, addresses } = selectFor(state, command, task, entitlements);
  const subnet = configured.subnet.name;
  const mac = selectMac(state, request, { ...search, subnet, addresses });
  const networks = [networkOf(attachment.provider, subnet), configured.subnet.network];
  if (command.attachments.length > 1)
    for (const { address } of addresses) for (const key of takenKeys(subnet, networks, address)) taken.add(key);
  task.tenant.add(subnet, addresses.length);
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

/** Selects the requested addresses, or reserved ones of the attachment, or free ones. */
function selectFor(
  state: State,
  command: Allocate,
  { request, attachment, held, taken, tenant }: AttachmentTask,
  entitlements: ReadonlySet<string>,
): SelectedAddresses {
  const { candidates, pool, ipFamily } = request;
  const { now, import: imports = false } = command;
  const subnets = subnetsFor(state, command, request);
  const networkIn = (subnet: string): string => networkOf(attachment.provider, subnet);
  refuseForeignPool(state, pool, tenant);
  const own = held;
  const search = { subnets, networkIn, pool, ipFamily, entitlements, own, taken, exactly: imports, now, tenant };
  if (imports && candidates.length !== 1)
    throw new Refused(
      'INVALID_REQUEST',
      'an import needs exactly one set of candidates: the addresses that the attachment has',
    );
  if (candidates.length > 0) return selectAddresses(state, search, candidates);
  for (const configured of subnets) {
    const reserved = reservedFor(state, configured.subnet.name, search, attachment);
    if (reserved.length > 0) return selectAddresses(state, { ...search, subnets: [configured] }, [reserved]);
  }
  if (request.reservation !== '')
    throw new Refused(
      'RESERVATION_UNKNOWN',
      `no address that Pod ${describe(command)} can take is reserved for ${request.reservation} in subnet ${subnets.map(({ subnet }) => subnet.name).join(' or ')}: reserve an address first`,
    );
  return selectAddresses(state, search, []);
}

/** @throws Refused SUBNET_UNKNOWN, POOL_UNKNOWN */
function subnetsFor(
  state: State,
  command: Allocate,
  { subnets: names, pool }: AttachmentRequest,
): AddressSearch['subnets'] {
  const subnets = names.flatMap((name) => state.subnets.get(name) ?? []);
  if (subnets.length === 0) {
    const { refusal } = subnetUnknown(names.join(' or ') || '(none named)');
    throw new Refused(refusal.code, `${refusal.message}, which Pod ${describe(command)} requests`);
  }
  if (pool === '') return subnets;
  const home = state.pools.get(pool)?.spec.subnet;
  const matching = subnets.filter(({ subnet }) => subnet.name === home);
  if (matching.length > 0) return matching;
  throw new Refused(
    'POOL_UNKNOWN',
    `no ippool ${pool} is configured in subnet ${subnets.map(({ subnet }) => subnet.name).join(' or ')}${home === undefined ? '' : `: it belongs to subnet ${home}`}`,
  );
}

/** Returns addresses reserved for the attachment, one of each family, free ones first. */
function reservedFor(
  state: State,
  subnet: string,
  { entitlements, pool, ipFamily, own, taken }: AddressSearch,
  { namespace, pod }: Attachment,
): string[] {
  const holderOf = (address: string): Allocation | undefined => {
    const holder = claimOf(state, subnet, address)?.allocation;
    return holder?.seq === own?.seq ? undefined : holder;
  };
  const isOfSamePod = (address: string): boolean => {
    const attachment = holderOf(address)?.attachment;
    return attachment?.namespace === namespace && attachment.pod === pod;
  };
  const all = [...entitlements]
    .flatMap((text) => reservedAddressesFor(state, subnet, text))
    .map(({ address }) => address);
  const usable = all.filter(
    (address) =>
      matchesIpFamily(familyOf(address), ipFamily) &&
      isInPool(state, pool, address) &&
      !taken.has(claimKey({ subnet, address })) &&
      !isOfSamePod(address),
  );
  return ([4, 6] as const).flatMap((family) => {
    const each = usable.filter((address) => familyOf(address) === family);
    return each.find((address) => !holderOf(address)) ?? each[0] ?? [];
  });
}

/** Replaces the CIDR and gateway of allocated addresses by the present ones of the subnet. */
function refreshAddresses(state: State, { subnet, addresses }: Allocation): readonly AssignedAddress[] {
  const spaces = state.subnets.get(subnet)?.spaces;
  return addresses.map((known) => {
    const space = spaceOfFamily(spaces, familyOf(known.address));
    return space ? toAssignedAddress(space, known.address) : known;
  });
}

/** Whether an existing allocation satisfies a request. */
function fits(
  state: State,
  held: Allocation,
  { subnets, candidates, pool, ipFamily, reservation }: AttachmentRequest,
  entitlements: ReadonlySet<string>,
): boolean {
  const configured = state.subnets.get(held.subnet);
  if (!configured || !subnets.includes(held.subnet)) return false;
  const addresses = held.addresses.map(({ address }) => address);
  const families = configured.spaces
    .map(({ subnetFamily }) => subnetFamily.family)
    .filter((family) => matchesIpFamily(family, ipFamily));
  const keeper = { pool, entitlements, namespace: held.attachment.namespace };
  const reserved = addresses.map((address) => claimOf(state, held.subnet, address)?.reservation?.reservedFor);
  return (
    families.join() === addresses.map(familyOf).join() &&
    addresses.every((address) => mayKeepAddress(state, configured, address, keeper)) &&
    (reservation === '' || reserved.includes(reservation)) &&
    (candidates.length === 0 || candidates.some((set) => set.every((address) => addresses.includes(address))))
  );
}

function supersede(held: Allocation, uid: string): Event {
  const addresses = held.addresses.map(({ address }) => address);
  const evidence = `the name belongs to Pod uid ${uid} now, which requests other addresses`;
  const { attachment, seq: alloc } = held;
  const cause = 'pod-deleted';
  const data = { alloc, attachment, uid: held.uid, addresses, cause, evidence, ...endOf(held.uid, cause) } as const;
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
