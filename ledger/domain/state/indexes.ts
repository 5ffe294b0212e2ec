/**
 * Updates the state's indexes. Every change of a claim, an allocation or a subnet goes through
 * these functions, so that folding the log and restoring the keys in etcd lead to the same state.
 */
import { AddressSpace, spaceOfFamily } from './address-pools/address-space.ts';
import { type Allocation, type Claim, type ClaimName, compareReuse, standingOf } from './claim.ts';
import { type ClaimOutline, outlineOf, type Table } from './claims.ts';
import { familyOf } from '../addresses/address.ts';
import { permanent, type UndoLog } from './undo-log.ts';
import { updateNamespaceCounts } from './namespace-counts.ts';
import { effectiveClaim } from './claims-on-network.ts';
import { poolIntervals } from './pool.ts';
import { type ConfiguredSubnet, isOfAttachment, macKeyOf, podKeyOf, type State } from './state.ts';
import type { Subnet } from './subnet.ts';

/** Puts a subnet in force. Builds its spaces from the pools and the claims on its network. */
export function indexSubnet(state: State, configured: Omit<ConfiguredSubnet, 'spaces'>, undoLog: UndoLog): void {
  const { subnet } = configured;
  const { name, network } = subnet;
  const indexed = { ...configured, spaces: state.isDecidable ? buildSpaces(state, subnet) : [] };
  const known = state.subnets.get(name);
  if (known && known.subnet.network !== network) unindexHome(state, known.subnet, undoLog);
  if (known?.subnet.network !== network)
    undoLog.setKey(state.homeSubnets, network, [...(state.homeSubnets.get(network) ?? []), name].toSorted());
  undoLog.setKey(state.subnets, name, indexed);
}

function buildSpaces(state: State, subnet: Subnet): AddressSpace[] {
  const pools = [...state.pools.values()].filter(({ spec }) => spec.subnet === subnet.name);
  const spaces = subnet.families.map((subnetFamily) => {
    const ranges = pools.map(({ name: pool, spec }) => ({ pool, ranges: poolIntervals(spec, subnetFamily.family) }));
    return new AddressSpace(subnetFamily, ranges);
  });
  // An undo removes the new spaces as a whole, so the moves inside them are not recorded.
  for (const outline of outlinesFor(state, subnet))
    spaceOfFamily(spaces, familyOf(outline.address))?.place(outline.address, outline);
  return spaces;
}

/** Takes a subnet out of force. Its claims stay. */
export function unindexSubnet(state: State, name: string, undoLog: UndoLog): void {
  const known = state.subnets.get(name);
  if (known) unindexHome(state, known.subnet, undoLog);
  undoLog.deleteKey(state.subnets, name);
}

function unindexHome(state: State, { name, network }: Subnet, undoLog: UndoLog): void {
  const rest = (state.homeSubnets.get(network) ?? []).filter((other) => other !== name);
  setOrDelete(state.homeSubnets, network, rest, undoLog);
}

/** The standings that the claims give to the addresses of a subnet, in the order of reuse. */
function outlinesFor(state: State, subnet: Subnet): ClaimOutline[] {
  const own = [...(state.claims.get(subnet.name)?.outlines() ?? [])];
  // The common case: no other subnet has claims on the network.
  const combined = new Map<string, ClaimOutline>();
  for (const name of state.networks.get(subnet.network)?.keys() ?? [])
    if (name !== subnet.name)
      for (const [address, { networks }] of state.claims.get(name) ?? [])
        if (networks.includes(subnet.network))
          combined.set(address, outlineOf(address, effectiveClaim(state, subnet, address) as Claim));
  const outlines = [...own.filter(({ address }) => !combined.has(address)), ...combined.values()];
  return outlines.sort(compareReuse);
}

/** Replaces a claim in every index. */
export function putClaim(state: State, name: ClaimName, claim: Claim, undoLog: UndoLog): void {
  let claims = state.claims.get(name.subnet);
  if (!claims) undoLog.setKey(state.claims, name.subnet, (claims = state.newClaims(name.subnet)));
  const before = claims.get(name.address);
  if (!state.isDecidable) {
    undoLog.setKey(claims, name.address, claim);
    undoLog.touch(name);
    indexNetworks(state, name.subnet, { before: before?.networks ?? [], after: claim.networks }, undoLog);
    return;
  }
  const sole = soleSubnet(state, name.subnet, before, claim);
  const affected = sole ? [] : subnetsAffected(state, name, claim.networks);
  const leftNetworks = before?.networks.filter((network) => !claim.networks.includes(network)) ?? [];
  const left = leftNetworks.length === 0 ? [] : homesOf(state, name, leftNetworks);
  undoLog.setKey(claims, name.address, claim);
  undoLog.touch(name);
  indexNetworks(state, name.subnet, { before: before?.networks ?? [], after: claim.networks }, undoLog);
  if (sole) spaceOfFamily(sole.spaces, familyOf(name.address))?.move(name.address, before, claim, undoLog);
  for (const { configured, known } of affected) {
    const now = effectiveClaim(state, configured.subnet, name.address) as Claim;
    spaceOfFamily(configured.spaces, familyOf(name.address))?.move(name.address, known, now, undoLog);
  }
  for (const each of left) placeAgain(state, name.address, each, undoLog);
  updateNamespaceCounts(state, name, { before, after: claim }, undoLog);
  if (before?.reservation !== claim.reservation || before?.networks[0] !== claim.networks[0])
    indexReservation(state, name, { before, after: claim }, undoLog);
}

/** Adds a claim before any subnet is in force. Cannot be undone. */
export function addClaim(state: State, name: ClaimName, claim: Claim): void {
  let claims = state.claims.get(name.subnet);
  if (!claims) state.claims.set(name.subnet, (claims = state.newClaims(name.subnet)));
  claims.restore(name.address, claim);
  indexNetworks(state, name.subnet, { before: [], after: claim.networks }, permanent);
  updateNamespaceCounts(state, name, { before: undefined, after: claim }, permanent);
  if (claim.reservation) indexReservation(state, name, { before: undefined, after: claim }, permanent);
}

/** The subnet of a claim if its network has no other subnet: the common case. */
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
  return isSole && state.homeSubnets.get(network)?.length === 1 && state.homeSubnets.get(network)?.[0] === subnet
    ? state.subnets.get(subnet)
    : undefined;
}

/** The subnets in force that a claim affects: its own, and those whose network the claim is on. */
function subnetsAffected(state: State, name: ClaimName, networks: readonly string[]): Affected[] {
  const own = state.subnets.get(name.subnet);
  const others = homesOf(state, name, networks);
  return own ? [affectedBy(state, own, name.address), ...others] : others;
}

/** The other subnets in force whose own network is one of `networks`. */
const homesOf = (state: State, { subnet, address }: ClaimName, networks: readonly string[]): Affected[] =>
  networks
    .flatMap((network) => state.homeSubnets.get(network) ?? [])
    .flatMap((home) => (home === subnet ? [] : (state.subnets.get(home) ?? [])))
    .map((configured) => affectedBy(state, configured, address));

const affectedBy = (state: State, configured: ConfiguredSubnet, address: string): Affected => ({
  configured,
  known: effectiveClaim(state, configured.subnet, address),
});

interface NetworkChange {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

interface Affected {
  readonly configured: ConfiguredSubnet;
  /** The claim that decided about the address in that subnet before the change. */
  readonly known: Claim | undefined;
}

/** Moves an address after its claim left a network: other, perhaps older, claims now decide. */
function placeAgain(state: State, address: string, { configured, known }: Affected, undoLog: UndoLog): void {
  const { subnet } = configured;
  const space = spaceOfFamily(configured.spaces, familyOf(address));
  const now = effectiveClaim(state, subnet, address);
  if (!space || !known) return;
  if (!now) return space.makeFresh(address, known, undoLog);
  if (now.last === known.last && standingOf(now) === standingOf(known)) return;
  const claimOf = (text: string): Claim | undefined => effectiveClaim(state, subnet, text);
  space.moveInOrder(address, { from: known, to: now, claimOf }, undoLog);
}

function indexNetworks(state: State, subnet: string, { before, after }: NetworkChange, undoLog: UndoLog): void {
  if (before === after) return;
  for (const network of before)
    if (!after.includes(network)) countClaims(state, { network, subnet, change: -1 }, undoLog);
  for (const network of after)
    if (!before.includes(network)) countClaims(state, { network, subnet, change: 1 }, undoLog);
}

interface ClaimCountChange {
  readonly network: string;
  readonly subnet: string;
  readonly change: 1 | -1;
}

/** Updates the number of claims that a subnet has on a network. */
function countClaims(state: State, { network, subnet, change }: ClaimCountChange, undoLog: UndoLog): void {
  let counts = state.networks.get(network);
  if (!counts) undoLog.setKey(state.networks, network, (counts = new Map()));
  const now = (counts.get(subnet) ?? 0) + change;
  if (now === 0) undoLog.deleteKey(counts, subnet);
  else undoLog.setKey(counts, subnet, now);
  if (counts.size === 0) undoLog.deleteKey(state.networks, network);
}

/** Deletes a claim from every index. Its address is then like an address that was never used. */
export function removeClaim(state: State, name: ClaimName, undoLog: UndoLog): void {
  const claims = state.claims.get(name.subnet);
  const before = claims?.get(name.address);
  if (!claims || !before) return;
  const affected = state.isDecidable ? subnetsAffected(state, name, before.networks) : [];
  undoLog.deleteKey(claims, name.address);
  if (claims.size === 0) undoLog.deleteKey(state.claims, name.subnet);
  undoLog.touch(name);
  indexNetworks(state, name.subnet, { before: before.networks, after: [] }, undoLog);
  if (!state.isDecidable) return;
  for (const each of affected) placeAgain(state, name.address, each, undoLog);
  updateNamespaceCounts(state, name, { before, after: undefined }, undoLog);
  indexReservation(state, name, { before, after: undefined }, undoLog);
}

/** Records that an attachment holds an allocation. Does not change its claims. */
export function indexAllocation(state: State, allocation: Allocation, undoLog: UndoLog): void {
  const { attachment } = allocation;
  const key = podKeyOf(allocation);
  const held = state.pods.get(key) ?? [];
  const index = held.findIndex((each) => isOfAttachment(each, attachment));
  undoLog.setKey(state.pods, key, index < 0 ? [...held, allocation] : held.with(index, allocation));
  if (allocation.mac !== '') undoLog.setKey(state.macs, macKeyOf(allocation), [allocation]);
}

/** Removes an allocation from its attachment. Does not change its claims. */
export function unindexAllocation(state: State, allocation: Allocation, undoLog: UndoLog): void {
  const { attachment, mac } = allocation;
  const key = podKeyOf(allocation);
  const rest = (state.pods.get(key) ?? []).filter((each) => !isOfAttachment(each, attachment));
  setOrDelete(state.pods, key, rest, undoLog);
  if (mac !== '') undoLog.deleteKey(state.macs, macKeyOf(allocation));
}

function indexReservation(
  state: State,
  name: ClaimName,
  { before, after }: { readonly before: Claim | undefined; readonly after: Claim | undefined },
  undoLog: UndoLog,
): void {
  const macKey = ({ networks: [home = ''] }: Claim, mac: string): string => `${home}/${mac}`;
  if (before?.reservation) {
    removeName(state.reservations, before.reservation.reservedFor, name, undoLog);
    if (before.reservation.mac) removeName(state.reservedMacs, macKey(before, before.reservation.mac), name, undoLog);
  }
  if (after?.reservation) {
    addName(state.reservations, after.reservation.reservedFor, name, undoLog);
    if (after.reservation.mac) addName(state.reservedMacs, macKey(after, after.reservation.mac), name, undoLog);
  }
}

type ClaimIndex = Map<string, readonly ClaimName[]>;

const addName = (index: ClaimIndex, key: string, name: ClaimName, undoLog: UndoLog): void =>
  undoLog.setKey(index, key, [...(index.get(key) ?? []), name]);

function removeName(index: ClaimIndex, key: string, { subnet, address }: ClaimName, undoLog: UndoLog): void {
  const rest = (index.get(key) ?? []).filter((other) => other.subnet !== subnet || other.address !== address);
  setOrDelete(index, key, rest, undoLog);
}

/** An empty list has no key, so that equal states have equal maps. */
function setOrDelete<Item>(map: Table<readonly Item[]>, key: string, list: readonly Item[], undoLog: UndoLog): void {
  if (list.length > 0) undoLog.setKey(map, key, list);
  else undoLog.deleteKey(map, key);
}
