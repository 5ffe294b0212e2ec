/** Gives a Pod the addresses of all its attachments, or none. */
import type { Allocate, AttachmentRequest } from '../command.ts';
import type { Allocation } from '../claim.ts';
import { canonicalMac } from '../address.ts';
import { type AssignedAddress, type Attachment, type Event, familyOf, type Grant } from '../event.ts';
import { claimKey } from '../journal.ts';
import { Refused } from '../refusal.ts';
import { allocationOf, attachmentKey, type ConfiguredSubnet, type State } from '../state.ts';
import { assigned, pickDynamic, pickStatic } from './pick.ts';

/** What one attachment will hold. */
interface Choice {
  readonly configured: ConfiguredSubnet;
  readonly addresses: readonly AssignedAddress[];
}

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
  for (const request of command.attachments) {
    const attachment: Attachment = {
      namespace: command.pod.namespace,
      pod: command.pod.name,
      provider: request.provider,
      ordinal: request.ordinal,
    };
    const held = allocationOf(state, attachment);
    if (held?.uid === command.pod.uid) continue;
    events.push(...naming(attachment, command, () => eventsFor(state, command, { request, attachment, held, taken })));
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
  /** "subnet/address" and "subnet/mac" that earlier attachments of this command take; added to. */
  readonly taken: Set<string>;
}

function eventsFor(state: State, command: Allocate, { request, attachment, held, taken }: Wanted): Event[] {
  const mac = readMac(request.mac);
  if (held && fits(held, request)) {
    if (mac !== held.mac) refuseTakenMac(state, held.subnet, { mac, attachment, taken });
    const addresses = asInForce(state, held);
    const grant = grantOf(command, { request, attachment, mac }, addresses, held.cause);
    const passedOn = { ...grant, interface: request.interface || held.interface, alloc: held.seq, fromUid: held.uid };
    return [{ type: 'AddressTransferred', subnet: held.subnet, data: passedOn }];
  }
  const { configured, addresses } = choose(state, command, { request, attachment, held, taken });
  const subnet = configured.subnet.name;
  refuseTakenMac(state, subnet, { mac, attachment, taken });
  for (const { address } of addresses) taken.add(claimKey({ subnet, address }));
  const cause = request.candidates.length === 0 ? 'dynamic' : request.candidates.length === 1 ? 'static' : 'pool';
  const grant = grantOf(command, { request, attachment, mac }, addresses, cause);
  const allocated: Event = { type: 'AddressAllocated', subnet, data: grant };
  return held ? [supersede(held, command.pod.uid), allocated] : [allocated];
}

function choose(state: State, command: Allocate, { request, taken }: Wanted): Choice {
  const subnets = request.subnets.flatMap((name) => state.subnets.get(name) ?? []);
  if (subnets.length === 0)
    throw new Refused(
      'SUBNET_UNKNOWN',
      `no subnet ${request.subnets.join(' or ') || '(none named)'} is configured, which Pod ${describe(command)} asks for`,
    );
  return request.candidates.length === 0
    ? pickDynamic(state, { subnets, taken, now: command.now })
    : pickStatic(state, { subnets, taken, now: command.now }, request.candidates);
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
function fits(held: Allocation, { subnets, candidates }: AttachmentRequest): boolean {
  if (!subnets.includes(held.subnet)) return false;
  const addresses = new Set(held.addresses.map(({ address }) => address));
  return candidates.length === 0 || candidates.some((set) => set.every((address) => addresses.has(address)));
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

function readMac(text: string): string {
  if (text === '') return '';
  const mac = canonicalMac(text);
  if (!mac)
    throw new Refused(
      'INVALID_REQUEST',
      `${text} is not a valid unicast MAC address: write six octets, 02:00:00:53:6b:bb`,
    );
  return mac;
}

function refuseTakenMac(
  state: State,
  subnet: string,
  { mac, attachment, taken }: { mac: string; attachment: Attachment; taken: Set<string> },
): void {
  if (mac === '') return;
  const holder = state.macs.get(`${subnet}/${mac}`);
  const own =
    holder &&
    holder.namespace === attachment.namespace &&
    holder.pod === attachment.pod &&
    attachmentKey(holder) === attachmentKey(attachment);
  if (holder && !own)
    throw new Refused(
      'MAC_IN_USE',
      `MAC ${mac} is in use in subnet ${subnet} by Pod ${holder.namespace}/${holder.pod} (${holder.provider})`,
    );
  if (taken.has(`${subnet}/${mac}`))
    throw new Refused('MAC_IN_USE', `MAC ${mac} is asked for twice in subnet ${subnet} by the same Pod`);
  taken.add(`${subnet}/${mac}`);
}

const describe = ({ pod }: Allocate): string => `${pod.namespace}/${pod.name} (uid ${pod.uid})`;
