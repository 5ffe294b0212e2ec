/**
 * The state's indexes, kept in step with what they follow from: whoever changes a claim, an allocation or a subnet does it here.
 * The log and the keys in etcd lead to the same state by it.
 */
import { AddressSpace } from './address-space.ts';
import { type Allocation, type Binding, type Claim, standingOf } from './claim.ts';
import { familyOf } from './event.ts';
import { type ClaimName, deleteKey, Journal, setKey } from './journal.ts';
import { countNamespaces } from './namespace-counts.ts';
import { networkOf } from './network.ts';
import { claimInForce } from './on-network.ts';
import { rangesOf } from './pool.ts';
import { attachmentKey, type ConfiguredSubnet, podKey, sandboxKey, type State } from './state.ts';
import type { Subnet } from './subnet.ts';

/** Puts a subnet in force: its spaces are made anew from the pools and from the claims on its network. */
export function configureSubnet(state: State, configured: Omit<ConfiguredSubnet, 'spaces'>, journal: Journal): void {
  const { subnet } = configured;
  const { name, network, families } = subnet;
  const pools = [...state.pools.values()].filter(({ spec }) => spec.subnet === name);
  const spaces = families.map((subnetFamily) => {
    const ranges = pools.map(({ name: pool, spec }) => ({ pool, ranges: rangesOf(spec, subnetFamily.family) }));
    return new AddressSpace(subnetFamily, ranges);
  });
  const whole = { ...configured, spaces };
  // What is made here is taken back as a whole.
  const own = new Journal();
  for (const [address, claim] of claimsFor(state, subnet))
    spaceOf(whole, address)?.move(address, undefined, claim, own);
  const known = state.subnets.get(name);
  if (known && known.subnet.network !== network) leaveHome(state, known.subnet, journal);
  if (known?.subnet.network !== network)
    journal.record(setKey(state.homes, network, [...(state.homes.get(network) ?? []), name].toSorted()));
  journal.record(setKey(state.subnets, name, whole));
}

/** Takes a subnet out of force; its claims stay. */
export function retireSubnet(state: State, name: string, journal: Journal): void {
  const known = state.subnets.get(name);
  if (known) leaveHome(state, known.subnet, journal);
  journal.record(deleteKey(state.subnets, name));
}

function leaveHome(state: State, { name, network }: Subnet, journal: Journal): void {
  const rest = (state.homes.get(network) ?? []).filter((other) => other !== name);
  journal.record(rest.length > 0 ? setKey(state.homes, network, rest) : deleteKey(state.homes, network));
}

/** The claims that decide what a subnet can give, in the order of their last event: addresses are given again in that order. */
function claimsFor(state: State, subnet: Subnet): (readonly [string, Claim])[] {
  const addresses = new Set(state.claims.get(subnet.name)?.keys());
  // Usually the network has no other subnet's claims, and this adds nothing.
  for (const name of state.networks.get(subnet.network)?.keys() ?? [])
    if (name !== subnet.name)
      for (const [address, { networks }] of state.claims.get(name) ?? [])
        if (networks.includes(subnet.network)) addresses.add(address);
  const claims = [...addresses].map((address) => [address, claimInForce(state, subnet, address) as Claim] as const);
  return claims.toSorted(([one, a], [other, b]) => a.last - b.last || (one < other ? -1 : 1));
}

/** Puts a claim in place of the one before, in every index that follows from it. */
export function putClaim(state: State, name: ClaimName, claim: Claim, journal: Journal): void {
  let claims = state.claims.get(name.subnet);
  if (!claims) journal.record(setKey(state.claims, name.subnet, (claims = new Map())));
  const before = claims.get(name.address);
  const alone = soleSubnet(state, name.subnet, before, claim);
  const affected = alone ? [] : subnetsAffected(state, name, claim.networks);
  const leftNetworks = before?.networks.filter((network) => !claim.networks.includes(network)) ?? [];
  const left = leftNetworks.length === 0 ? [] : homesOf(state, name, leftNetworks);
  journal.record(setKey(claims, name.address, claim));
  journal.touch(name);
  indexNetworks(state, name.subnet, { before: before?.networks ?? [], after: claim.networks }, journal);
  if (alone) spaceOf(alone, name.address)?.move(name.address, before, claim, journal);
  for (const { configured, known } of affected) {
    const now = claimInForce(state, configured.subnet, name.address) as Claim;
    spaceOf(configured, name.address)?.move(name.address, known, now, journal);
  }
  for (const each of left) placeAnew(state, name.address, each, journal);
  indexReleased(state, before?.released, claim.released, journal);
  countNamespaces(state, name, { before, after: claim }, journal);
  if (before?.bindings !== claim.bindings)
    indexSandboxes(state, name, { before: before?.bindings ?? [], after: claim.bindings }, journal);
  if (before?.reservation !== claim.reservation || before?.networks[0] !== claim.networks[0])
    indexReservation(state, name, { before, after: claim }, journal);
}

/** The subnet of a claim where no other has to do with it, which is almost always: its network has one subnet and only its claims. */
function soleSubnet(
  state: State,
  subnet: string,
  before: Claim | undefined,
  { networks }: Claim,
): ConfiguredSubnet | undefined {
  const [network = ''] = networks;
  if (networks.length !== 1 || (before && before.networks !== networks)) return undefined;
  const claiming = state.networks.get(network);
  const isSole = !claiming || (claiming.size === 1 && claiming.has(subnet));
  return isSole && state.homes.get(network)?.length === 1 && state.homes.get(network)?.[0] === subnet
    ? state.subnets.get(subnet)
    : undefined;
}

/** The subnets in force that a claim decides about: its own, and those whose network it is on. */
function subnetsAffected(state: State, name: ClaimName, networks: readonly string[]): Affected[] {
  const own = state.subnets.get(name.subnet);
  const others = homesOf(state, name, networks);
  return own ? [affectedBy(state, own, name.address), ...others] : others;
}

/** The other subnets in force whose network is one of these. */
const homesOf = (state: State, { subnet, address }: ClaimName, networks: readonly string[]): Affected[] =>
  networks
    .flatMap((network) => state.homes.get(network) ?? [])
    .flatMap((home) => (home === subnet ? [] : (state.subnets.get(home) ?? [])))
    .map((configured) => affectedBy(state, configured, address));

const affectedBy = (state: State, configured: ConfiguredSubnet, address: string): Affected => ({
  configured,
  known: claimInForce(state, configured.subnet, address),
});

interface NetworkChange {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

interface Affected {
  readonly configured: ConfiguredSubnet;
  /** What decided about the address in that subnet. */
  readonly known: Claim | undefined;
}

/** The place of an address after a claim of it left a subnet's network: other claims of it, perhaps older ones, decide now. */
function placeAnew(state: State, address: string, { configured, known }: Affected, journal: Journal): void {
  const { subnet } = configured;
  const space = spaceOf(configured, address);
  const now = claimInForce(state, subnet, address);
  if (!space || !known) return;
  if (!now) return space.forget(address, known, journal);
  if (now.last === known.last && standingOf(now) === standingOf(known)) return;
  const claimOf = (text: string): Claim | undefined => claimInForce(state, subnet, text);
  space.moveBack(address, { from: known, to: now, claimOf }, journal);
}

function indexNetworks(state: State, subnet: string, { before, after }: NetworkChange, journal: Journal): void {
  if (before === after) return;
  for (const network of before) if (!after.includes(network)) count(state, { network, subnet, change: -1 }, journal);
  for (const network of after) if (!before.includes(network)) count(state, { network, subnet, change: 1 }, journal);
}

interface Change {
  readonly network: string;
  readonly subnet: string;
  /** Of the number of the subnet's claims on the network. */
  readonly change: 1 | -1;
}

function count(state: State, { network, subnet, change }: Change, journal: Journal): void {
  let counts = state.networks.get(network);
  if (!counts) journal.record(setKey(state.networks, network, (counts = new Map())));
  const now = (counts.get(subnet) ?? 0) + change;
  journal.record(now === 0 ? deleteKey(counts, subnet) : setKey(counts, subnet, now));
  if (counts.size === 0) journal.record(deleteKey(state.networks, network));
}

/** Deletes a claim from every index: the address is as one that was never used. */
export function dropClaim(state: State, name: ClaimName, journal: Journal): void {
  const claims = state.claims.get(name.subnet);
  const before = claims?.get(name.address);
  if (!claims || !before) return;
  const affected = subnetsAffected(state, name, before.networks);
  journal.record(deleteKey(claims, name.address));
  if (claims.size === 0) journal.record(deleteKey(state.claims, name.subnet));
  journal.touch(name);
  indexNetworks(state, name.subnet, { before: before.networks, after: [] }, journal);
  for (const each of affected) placeAnew(state, name.address, each, journal);
  indexReleased(state, before.released, undefined, journal);
  indexSandboxes(state, name, { before: before.bindings, after: [] }, journal);
  countNamespaces(state, name, { before, after: undefined }, journal);
  indexReservation(state, name, { before, after: undefined }, journal);
}

/** Makes an allocation the one that its attachment holds. */
export function indexAllocation(state: State, allocation: Allocation, journal: Journal): void {
  const { namespace, pod } = allocation.attachment;
  let held = state.pods.get(podKey(namespace, pod));
  if (!held) journal.record(setKey(state.pods, podKey(namespace, pod), (held = new Map())));
  journal.record(setKey(held, attachmentKey(allocation.attachment), allocation));
  if (allocation.mac !== '') journal.record(setKey(state.macs, macKeyOf(allocation), allocation.attachment));
}

const spaceOf = (configured: ConfiguredSubnet, address: string): AddressSpace | undefined =>
  configured.spaces.find(({ subnetFamily }) => subnetFamily.family === familyOf(address));

/** Takes it from its attachment; its claims are changed by themselves. */
export function forgetAllocation(state: State, allocation: Allocation, journal: Journal): void {
  const { attachment, mac } = allocation;
  const key = podKey(attachment.namespace, attachment.pod);
  const held = state.pods.get(key);
  if (held) journal.record(deleteKey(held, attachmentKey(attachment)));
  if (held?.size === 0) journal.record(deleteKey(state.pods, key));
  if (mac !== '') journal.record(deleteKey(state.macs, macKeyOf(allocation)));
}

const macKeyOf = ({ attachment, subnet, mac }: Allocation): string =>
  `${networkOf(attachment.provider, subnet)}/${mac}`;

type Released = Claim['released'];

/** Which Pod uids released something, by Pod name, as far as claims tell. */
function indexReleased(state: State, before: Released, after: Released, journal: Journal): void {
  if (before === after) return;
  if (before?.pod !== undefined) {
    const rest = [...(state.released.get(before.pod) ?? [])];
    rest.splice(
      rest.findIndex(({ uid, seq }) => uid === before.uid && seq === before.seq),
      1,
    );
    journal.record(rest.length > 0 ? setKey(state.released, before.pod, rest) : deleteKey(state.released, before.pod));
  }
  if (after?.pod !== undefined)
    journal.record(setKey(state.released, after.pod, [...(state.released.get(after.pod) ?? []), after]));
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
  { before, after }: { readonly before: Claim | undefined; readonly after: Claim | undefined },
  journal: Journal,
): void {
  const macKey = ({ networks: [home = ''] }: Claim, mac: string): string => `${home}/${mac}`;
  if (before?.reservation) {
    takeFrom(state.reservations, before.reservation.reservedFor, name, journal);
    if (before.reservation.mac) takeFrom(state.reservedMacs, macKey(before, before.reservation.mac), name, journal);
  }
  if (after?.reservation) {
    addTo(state.reservations, after.reservation.reservedFor, name, journal);
    if (after.reservation.mac) addTo(state.reservedMacs, macKey(after, after.reservation.mac), name, journal);
  }
}

type ClaimIndex = Map<string, readonly ClaimName[]>;

const addTo = (index: ClaimIndex, key: string, name: ClaimName, journal: Journal): void =>
  journal.record(setKey(index, key, [...(index.get(key) ?? []), name]));

function takeFrom(index: ClaimIndex, key: string, { subnet, address }: ClaimName, journal: Journal): void {
  const rest = (index.get(key) ?? []).filter((other) => other.subnet !== subnet || other.address !== address);
  journal.record(rest.length > 0 ? setKey(index, key, rest) : deleteKey(index, key));
}
