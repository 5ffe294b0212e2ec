/**
 * A naive reference model of the ledger's rules, where they differ from Kube-OVN's. It predicts the
 * results of steps for deviations.json. Its spec compares it with every case that has no deviation.
 *
 *   - never-used addresses lowest first, then the one idle longest; a change of the subnet keeps
 *     this order
 *   - a rejected step allocates nothing
 *   - a NIC has its own address
 *   - a change that would leave an address in use outside the subnet is rejected
 */
import {
  type Address,
  type Family,
  formatAddress,
  parseAddress,
  parseCidr,
} from '../../ledger/domain/addresses/address.ts';
import { type Interval } from '../../ledger/domain/addresses/interval.ts';
import { type Case } from './case.ts';
import { type Fields, fieldsOf, type Json, listOf, textOf, textsOf } from '../harness/json.ts';

interface Space {
  readonly family: Family;
  readonly hosts: Interval;
  readonly excluded: readonly Interval[];
  readonly gateway: bigint | undefined;
}

interface Model {
  spaces: readonly Space[];
  /** Addresses in use, by NIC ("pod|nic") and family. */
  readonly allocated: Map<string, Map<Family, bigint>>;
  readonly macs: Map<string, string>;
  /** All addresses that were ever allocated, as canonical text. */
  readonly used: Set<string>;
  /** Released addresses, in order. */
  readonly idle: string[];
}

/** Predicts the result of each step of a case, except for `stats`, MACs and pools. */
export function predictResults({ given, when, expect }: Case): Json[] {
  const models = new Map(
    listOf(given['subnets'])
      .map(fieldsOf)
      .map((spec) => [textOf(spec['name']), modelOf(spec)]),
  );
  const expected = listOf(expect['results']).map(fieldsOf);
  const first = [...models.keys()][0] ?? '';
  return listOf(when['steps'])
    .map(fieldsOf)
    .map((step, index) => {
      const model = models.get(textOf(step['subnet']) || first);
      return model ? resultOf(model, step, expected[index] ?? {}) : (expected[index] ?? {});
    });
}

/** Whether a step would leave an address in use outside its subnet. */
export function strandsAddress(testCase: Case): boolean {
  return predictResults(testCase).some((result) => fieldsOf(result)['errorContains'] === strandingError);
}

const strandingError = "can't become";

function modelOf(spec: Fields): Model {
  return { spaces: spacesOf(spec), allocated: new Map(), macs: new Map(), used: new Set(), idle: [] };
}

function spacesOf(spec: Fields): Space[] {
  const gateways = textOf(spec['gateway']).split(',').map(parseAddress);
  return textOf(spec['cidrBlock'])
    .split(',')
    .flatMap((text) => {
      const cidr = parseCidr(text);
      if (!cidr) return [];
      const { family, base, prefix } = cidr;
      const last = base + (1n << BigInt((family === 4 ? 32 : 128) - prefix)) - 1n;
      const hosts = last - base > 1n ? { first: base + 1n, last: last - 1n } : { first: base, last };
      const gateway = gateways.find((address) => address?.family === family)?.value;
      return [{ family, hosts, gateway, excluded: excludesOf(textsOf(spec['excludeIps']), family) }];
    });
}

function excludesOf(texts: readonly string[], family: Family): Interval[] {
  return texts.flatMap((text) => {
    const [first, last = first] = text.split('..').map(parseAddress);
    return first && last && first.family === family ? [{ first: first.value, last: last.value }] : [];
  });
}

function resultOf(model: Model, step: Fields, expected: Fields): Fields {
  switch (step['op']) {
    case 'random':
      return allocate(model, step, expected, selectFree(model, step));
    case 'static':
      return allocate(model, step, expected, selectNamed(model, step));
    case 'release':
      return release(model, step, expected);
    case 'updateSubnet':
      return update(model, step, expected);
    case 'owner':
      return { ...expected, owner: ownerOf(model, canonical(textOf(step['ip']))) };
    default:
      return expected;
  }
}

type Selection = ReadonlyMap<Family, bigint> | { readonly error: string };

const nicOf = (step: Fields): string => `${textOf(step['pod'])}|${textOf(step['nic']) || textOf(step['pod'])}`;
const format = (family: Family, value: bigint): string => formatAddress({ family, value });

function canonical(text: string): string {
  const address = parseAddress(text);
  return address ? formatAddress(address) : text;
}

/** Allocates the selected addresses, or none if another NIC has the MAC. */
function allocate(model: Model, step: Fields, expected: Fields, selected: Selection): Fields {
  const nic = nicOf(step);
  const mac = textOf(step['mac']);
  const macHolder = mac === '' ? nic : (model.macs.get(mac) ?? nic);
  const { v4: _v4, v6: _v6, error: _error, errorContains: _contains, ...rest } = expected;
  if ('error' in selected) return { ...rest, error: selected.error };
  if (macHolder !== nic) return { ...rest, error: 'AddressConflict' };
  if (mac !== '') model.macs.set(mac, nic);
  const addresses = model.allocated.get(nic) ?? new Map<Family, bigint>();
  model.allocated.set(nic, addresses);
  for (const [family, value] of selected) {
    const before = addresses.get(family);
    addresses.set(family, value);
    if (before !== undefined && before !== value) markIdle(model, format(family, before));
    model.used.add(format(family, value));
    const idleIndex = model.idle.indexOf(format(family, value));
    if (idleIndex >= 0) model.idle.splice(idleIndex, 1);
  }
  const fields = ([4, 6] as const).flatMap((family) => {
    const value = addresses.get(family);
    const key = `v${family}`;
    if (value !== undefined) return [[key, format(family, value)]];
    return expected[key] === '' ? [[key, '']] : [];
  });
  return { ...rest, ...(Object.fromEntries(fields) as Fields) };
}

function selectFree(model: Model, step: Fields): Selection {
  const spaces = familiesOf(model, step);
  if (spaces.length === 0) return { error: 'InvalidIPFamily' };
  const skipped = new Set(textsOf(step['skip']).map(canonical));
  const selected = new Map<Family, bigint>();
  for (const space of spaces) {
    const current = model.allocated.get(nicOf(step))?.get(space.family);
    const value = current ?? findFree(model, space, skipped);
    if (value === undefined) return { error: 'NoAvailableAddress' };
    selected.set(space.family, value);
  }
  return selected;
}

function familiesOf({ spaces }: Model, step: Fields): readonly Space[] {
  const family = { ipv4: 4, ipv6: 6 }[textOf(step['family'])];
  return family === undefined ? spaces : spaces.filter((space) => space.family === family);
}

const excludeAt = ({ excluded }: Space, value: bigint): Interval | undefined =>
  excluded.find(({ first, last }) => first <= value && value <= last);

function findFree(model: Model, space: Space, skipped: ReadonlySet<string>): bigint | undefined {
  const { family, hosts } = space;
  for (let value = hosts.first; value <= hosts.last; value += 1n) {
    const exclude = excludeAt(space, value);
    if (exclude) value = exclude.last;
    else if (!model.used.has(format(family, value)) && !skipped.has(format(family, value))) return value;
  }
  for (const text of model.idle) {
    const { family: idleFamily, value } = parseAddress(text) as Address;
    const inside = idleFamily === family && value >= hosts.first && value <= hosts.last;
    if (inside && !excludeAt(space, value) && !skipped.has(text)) return value;
  }
  return undefined;
}

function selectNamed(model: Model, step: Fields): Selection {
  const nic = nicOf(step);
  const selected = new Map<Family, bigint>();
  for (const text of textOf(step['ip']).split(',')) {
    const address = parseAddress(text.trim());
    if (!address) return { error: `invalid IP address "${text}"` };
    const space = model.spaces.find(({ family }) => family === address.family);
    const { family, value } = address;
    if (!space || value < space.hosts.first || value > space.hosts.last) return { error: 'AddressOutOfRange' };
    const holder = holderOf(model, format(family, value));
    if (value === space.gateway || (holder !== undefined && holder !== nic && step['checkConflict'] !== false))
      return { error: 'AddressConflict' };
    selected.set(family, value);
  }
  for (const space of familiesOf(model, step)) {
    const value =
      selected.get(space.family) ?? model.allocated.get(nic)?.get(space.family) ?? findFree(model, space, new Set());
    if (value === undefined) return { error: 'NoAvailableAddress' };
    selected.set(space.family, value);
  }
  return selected;
}

const holderOf = ({ allocated }: Model, address: string): string | undefined =>
  [...allocated].find(([, families]) =>
    [...families].some(([family, value]) => format(family, value) === address),
  )?.[0];

const ownerOf = (model: Model, address: string): string => holderOf(model, address)?.split('|')[0] ?? '';

function release(model: Model, step: Fields, expected: Fields): Fields {
  const [pod, nic] = [textOf(step['pod']), textOf(step['nic'])];
  for (const [key, families] of model.allocated) {
    if (nic === '' ? !key.startsWith(`${pod}|`) : key !== `${pod}|${nic}`) continue;
    model.allocated.delete(key);
    for (const [mac, holder] of model.macs) if (holder === key) model.macs.delete(mac);
    for (const [family, value] of families) markIdle(model, format(family, value));
  }
  return expected;
}

function markIdle(model: Model, address: string): void {
  if (holderOf(model, address) === undefined) model.idle.push(address);
}

function update(model: Model, step: Fields, expected: Fields): Fields {
  const spaces = spacesOf(step);
  for (const families of model.allocated.values())
    for (const [family, value] of families) {
      const hosts = spaces.find((space) => space.family === family)?.hosts;
      if (!hosts || value < hosts.first || value > hosts.last) return { errorContains: strandingError };
    }
  model.spaces = spaces;
  return expected;
}
