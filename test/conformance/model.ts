/**
 * A second, naive opinion on sequences of steps: what the ledger gives by its own rules, where those differ from Kube-OVN's on
 * purpose. Only deviations.json brings it in; its spec holds it to every case that must be as it stands.
 *
 *   - never-used addresses lowest first, then the one that is idle longest; a change of the subnet forgets nothing
 *   - a refused step takes nothing
 *   - one address for one NIC
 *   - a change that would strand who holds an address is refused
 */
import {
  type Address,
  type Family,
  formatAddress,
  parseAddress,
  parseCidr,
} from '../../services/allocator/domain/address.ts';
import { type Interval } from '../../services/allocator/domain/interval.ts';
import { type Case } from './case.ts';
import { type Fields, fieldsOf, type Json, listOf, textOf, textsOf } from './json.ts';

interface Space {
  readonly family: Family;
  readonly hosts: Interval;
  readonly excluded: readonly Interval[];
  readonly gateway: bigint | undefined;
}

interface Model {
  spaces: readonly Space[];
  /** By NIC ("pod|nic"), then by family. */
  readonly held: Map<string, Map<Family, bigint>>;
  readonly macs: Map<string, string>;
  /** Everything that was ever given; canonical text. */
  readonly used: Set<string>;
  /** Given back, in that order. */
  readonly idle: string[];
}

/** The results that the model has for each step of a case; its `stats`, MACs and pools are not modelled. */
export function modelled({ given, when, expect }: Case): Json[] {
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

/** Whether some step would leave an address in use outside its subnet. */
export function strands(the: Case): boolean {
  return modelled(the).some((result) => fieldsOf(result)['errorContains'] === strandingRefused);
}

const strandingRefused = "can't become";

function modelOf(spec: Fields): Model {
  return { spaces: spacesOf(spec), held: new Map(), macs: new Map(), used: new Set(), idle: [] };
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
      return given(model, step, expected, freeAddresses(model, step));
    case 'static':
      return given(model, step, expected, namedAddresses(model, step));
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

type Picked = ReadonlyMap<Family, bigint> | { readonly error: string };

const nicOf = (step: Fields): string => `${textOf(step['pod'])}|${textOf(step['nic']) || textOf(step['pod'])}`;
const spelled = (family: Family, value: bigint): string => formatAddress({ family, value });

function canonical(text: string): string {
  const address = parseAddress(text);
  return address ? formatAddress(address) : text;
}

/** Takes what was picked, all of it or (with a MAC that another NIC has) nothing. */
function given(model: Model, step: Fields, expected: Fields, picked: Picked): Fields {
  const nic = nicOf(step);
  const mac = textOf(step['mac']);
  const macHolder = mac === '' ? nic : (model.macs.get(mac) ?? nic);
  const { v4: _v4, v6: _v6, error: _error, errorContains: _contains, ...rest } = expected;
  if ('error' in picked) return { ...rest, error: picked.error };
  if (macHolder !== nic) return { ...rest, error: 'AddressConflict' };
  if (mac !== '') model.macs.set(mac, nic);
  const held = model.held.get(nic) ?? new Map<Family, bigint>();
  model.held.set(nic, held);
  for (const [family, value] of picked) {
    const before = held.get(family);
    held.set(family, value);
    if (before !== undefined && before !== value) leave(model, spelled(family, before));
    model.used.add(spelled(family, value));
    const again = model.idle.indexOf(spelled(family, value));
    if (again >= 0) model.idle.splice(again, 1);
  }
  const shown = ([4, 6] as const).flatMap((family) => {
    const value = held.get(family);
    const key = `v${family}`;
    if (value !== undefined) return [[key, spelled(family, value)]];
    return expected[key] === '' ? [[key, '']] : [];
  });
  return { ...rest, ...(Object.fromEntries(shown) as Fields) };
}

function freeAddresses(model: Model, step: Fields): Picked {
  const wanted = familiesOf(model, step);
  if (wanted.length === 0) return { error: 'InvalidIPFamily' };
  const skipped = new Set(textsOf(step['skip']).map(canonical));
  const picked = new Map<Family, bigint>();
  for (const space of wanted) {
    const held = model.held.get(nicOf(step))?.get(space.family);
    const value = held ?? freeIn(model, space, skipped);
    if (value === undefined) return { error: 'NoAvailableAddress' };
    picked.set(space.family, value);
  }
  return picked;
}

function familiesOf({ spaces }: Model, step: Fields): readonly Space[] {
  const family = { ipv4: 4, ipv6: 6 }[textOf(step['family'])];
  return family === undefined ? spaces : spaces.filter((space) => space.family === family);
}

const excludes = ({ excluded }: Space, value: bigint): Interval | undefined =>
  excluded.find(({ first, last }) => first <= value && value <= last);

function freeIn(model: Model, space: Space, skipped: ReadonlySet<string>): bigint | undefined {
  const { family, hosts } = space;
  for (let value = hosts.first; value <= hosts.last; value += 1n) {
    const hole = excludes(space, value);
    if (hole) value = hole.last;
    else if (!model.used.has(spelled(family, value)) && !skipped.has(spelled(family, value))) return value;
  }
  for (const text of model.idle) {
    const { family: of, value } = parseAddress(text) as Address;
    const inside = of === family && value >= hosts.first && value <= hosts.last;
    if (inside && !excludes(space, value) && !skipped.has(text)) return value;
  }
  return undefined;
}

function namedAddresses(model: Model, step: Fields): Picked {
  const nic = nicOf(step);
  const picked = new Map<Family, bigint>();
  for (const text of textOf(step['ip']).split(',')) {
    const address = parseAddress(text.trim());
    if (!address) return { error: `invalid IP address "${text}"` };
    const space = model.spaces.find(({ family }) => family === address.family);
    const { family, value } = address;
    if (!space || value < space.hosts.first || value > space.hosts.last) return { error: 'AddressOutOfRange' };
    const taken = holderOf(model, spelled(family, value));
    if (value === space.gateway || (taken !== undefined && taken !== nic && step['checkConflict'] !== false))
      return { error: 'AddressConflict' };
    picked.set(family, value);
  }
  for (const space of familiesOf(model, step)) {
    const value = picked.get(space.family) ?? model.held.get(nic)?.get(space.family) ?? freeIn(model, space, new Set());
    if (value === undefined) return { error: 'NoAvailableAddress' };
    picked.set(space.family, value);
  }
  return picked;
}

const holderOf = ({ held }: Model, address: string): string | undefined =>
  [...held].find(([, families]) => [...families].some(([family, value]) => spelled(family, value) === address))?.[0];

const ownerOf = (model: Model, address: string): string => holderOf(model, address)?.split('|')[0] ?? '';

function release(model: Model, step: Fields, expected: Fields): Fields {
  const [pod, nic] = [textOf(step['pod']), textOf(step['nic'])];
  for (const [key, families] of model.held) {
    if (nic === '' ? !key.startsWith(`${pod}|`) : key !== `${pod}|${nic}`) continue;
    model.held.delete(key);
    for (const [mac, holder] of model.macs) if (holder === key) model.macs.delete(mac);
    for (const [family, value] of families) leave(model, spelled(family, value));
  }
  return expected;
}

function leave(model: Model, address: string): void {
  if (holderOf(model, address) === undefined) model.idle.push(address);
}

function update(model: Model, step: Fields, expected: Fields): Fields {
  const spaces = spacesOf(step);
  for (const families of model.held.values())
    for (const [family, value] of families) {
      const hosts = spaces.find((space) => space.family === family)?.hosts;
      if (!hosts || value < hosts.first || value > hosts.last) return { errorContains: strandingRefused };
    }
  model.spaces = spaces;
  return expected;
}
