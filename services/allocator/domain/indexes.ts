/**
 * The state's indexes, kept in step with what they follow from: whoever changes a claim, an allocation or a subnet does it here.
 * The log and the keys in etcd lead to the same state by it.
 */
import { AddressSpace } from './address-space.ts';
import type { Allocation, Binding, Claim, Reservation } from './claim.ts';
import { familyOf } from './event.ts';
import { type ClaimName, deleteKey, Journal, setKey } from './journal.ts';
import { countNamespaces } from './namespace-counts.ts';
import { rangesOf } from './pool.ts';
import { attachmentKey, type ConfiguredSubnet, podKey, sandboxKey, type State } from './state.ts';

/** Puts a subnet in force: its spaces are made anew from the pools and the claims that it has. */
export function configureSubnet(state: State, configured: Omit<ConfiguredSubnet, 'spaces'>, journal: Journal): void {
  const { name, families } = configured.subnet;
  const pools = [...state.pools.values()].filter(({ spec }) => spec.subnet === name);
  const spaces = families.map((subnetFamily) => {
    const ranges = pools.map(({ name: pool, spec }) => ({ pool, ranges: rangesOf(spec, subnetFamily.family) }));
    return new AddressSpace(subnetFamily, ranges);
  });
  // In the order of their last event, which is the order in which addresses were left, and so of their reuse.
  const claims = [...(state.claims.get(name) ?? [])].toSorted(
    ([one, a], [other, b]) => a.last - b.last || (one < other ? -1 : 1),
  );
  const whole = { ...configured, spaces };
  // What is made here is taken back as a whole.
  const own = new Journal();
  for (const [address, claim] of claims) spaceOf(whole, address)?.move(address, undefined, claim, own);
  journal.record(setKey(state.subnets, name, whole));
}

/** Puts a claim in place of the one before, in every index that follows from it. */
export function putClaim(state: State, name: ClaimName, claim: Claim, journal: Journal): void {
  let claims = state.claims.get(name.subnet);
  if (!claims) journal.record(setKey(state.claims, name.subnet, (claims = new Map())));
  const before = claims.get(name.address);
  journal.record(setKey(claims, name.address, claim));
  journal.touch(name);
  const configured = state.subnets.get(name.subnet);
  if (configured) spaceOf(configured, name.address)?.move(name.address, before, claim, journal);
  countNamespaces(state, name, { before, after: claim }, journal);
  if (before?.bindings !== claim.bindings)
    indexSandboxes(state, name, { before: before?.bindings ?? [], after: claim.bindings }, journal);
  if (before?.reservation !== claim.reservation)
    indexReservation(state, name, { before: before?.reservation, after: claim.reservation }, journal);
}

/** Makes an allocation the one that its attachment holds. */
export function indexAllocation(state: State, allocation: Allocation, journal: Journal): void {
  const { namespace, pod } = allocation.attachment;
  let held = state.pods.get(podKey(namespace, pod));
  if (!held) journal.record(setKey(state.pods, podKey(namespace, pod), (held = new Map())));
  journal.record(setKey(held, attachmentKey(allocation.attachment), allocation));
  if (allocation.mac !== '')
    journal.record(setKey(state.macs, `${allocation.subnet}/${allocation.mac}`, allocation.attachment));
}

const spaceOf = (configured: ConfiguredSubnet, address: string): AddressSpace | undefined =>
  configured.spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(address));

/** Takes it from its attachment; its claims are changed by themselves. */
export function forgetAllocation(state: State, { attachment, subnet, mac }: Allocation, journal: Journal): void {
  const key = podKey(attachment.namespace, attachment.pod);
  const held = state.pods.get(key);
  if (held) journal.record(deleteKey(held, attachmentKey(attachment)));
  if (held?.size === 0) journal.record(deleteKey(state.pods, key));
  if (mac !== '') journal.record(deleteKey(state.macs, `${subnet}/${mac}`));
}

function indexSandboxes(
  state: State,
  name: ClaimName,
  { before, after }: { readonly before: readonly Binding[]; readonly after: readonly Binding[] },
  journal: Journal,
): void {
  const keyOf = (binding: Binding): string => sandboxKey(binding.containerId, binding.interface);
  for (const key of new Set(before.map(keyOf))) takeFrom(state.sandboxes, key, name, journal);
  for (const key of new Set(after.map(keyOf))) addTo(state.sandboxes, key, name, journal);
}

function indexReservation(
  state: State,
  name: ClaimName,
  { before, after }: { readonly before: Reservation | undefined; readonly after: Reservation | undefined },
  journal: Journal,
): void {
  if (before) takeFrom(state.reservations, before.reservedFor, name, journal);
  if (before?.mac) takeFrom(state.reservedMacs, `${name.subnet}/${before.mac}`, name, journal);
  if (after) addTo(state.reservations, after.reservedFor, name, journal);
  if (after?.mac) addTo(state.reservedMacs, `${name.subnet}/${after.mac}`, name, journal);
}

type ClaimIndex = Map<string, readonly ClaimName[]>;

const addTo = (index: ClaimIndex, key: string, name: ClaimName, journal: Journal): void =>
  journal.record(setKey(index, key, [...(index.get(key) ?? []), name]));

function takeFrom(index: ClaimIndex, key: string, { subnet, address }: ClaimName, journal: Journal): void {
  const rest = (index.get(key) ?? []).filter((other) => other.subnet !== subnet || other.address !== address);
  journal.record(rest.length > 0 ? setKey(index, key, rest) : deleteKey(index, key));
}
