/** The address map of a Subnet, now or at an earlier time. */
import {
  cidrsOverlap,
  formatAddress,
  lastAddressOf,
  parseAddress,
  parseCidr,
} from '../../../ledger/domain/addresses/address.ts';
import { difference, type Interval, union } from '../../../ledger/domain/addresses/interval.ts';
import { readExcludes } from '../../../ledger/domain/state/exclude-ips.ts';
import { hostsOf } from '../../../ledger/domain/state/subnet.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type {
  MapAddressesReply,
  MapState,
  Moment as LedgerMoment,
  SubnetSpec,
} from '../../../proto/generated/ipledger.ts';
import {
  type AddressMap,
  type AddressMoments,
  cellStates,
  type CellState,
  type MapBlock,
  type Moment,
  type StateCounts,
} from '../api/address-map.ts';
import type { Query } from '../http/query.ts';
import type { View } from '../http/routes.ts';
import { type LedgerReads, type MapKey, positionOf } from '../ledger/ledger-reads.ts';
import { ipledger } from '../rows/command.ts';

const maxCells = 65_536;
const maxBlocks = 256;
const usedPerPage = 1_000;
const bytesPerState = 16;

const stateNames: Readonly<Record<MapState, CellState>> = {
  MAP_STATE_FREE: 'free',
  MAP_STATE_ALLOCATED: 'allocated',
  MAP_STATE_BOUND: 'bound',
  MAP_STATE_RESTING: 'resting',
  MAP_STATE_RESERVED: 'reserved',
  MAP_STATE_QUARANTINED: 'quarantined',
};
const cellOf = (state: MapState): number => cellStates.indexOf(stateNames[state]);
const [freeCell, excludedCell, gatewayCell] = (['free', 'excluded', 'gateway'] as const).map((state) =>
  cellStates.indexOf(state),
) as [number, number, number];

export function showMap(reads: LedgerReads): View {
  return async ({ params: { name = '' }, query, signal }) => {
    const family = readFamily(query);
    const seq = readSeq(query);
    const [at, range, page] = [query.instant('at'), query.cidr('range'), query.page()];
    const reply = await readMap(reads, { subnet: name, family, seq, at }, signal);
    const { spec } = reply;
    if (!spec) throw new IpledgerError('BUG', 'a reply of the read model has no spec');
    const isOfFamily = (text: string): boolean => text.includes(':') === (family === 6);
    const cidr = spec.cidrBlock.split(',').find(isOfFamily) ?? '';
    const gateway = spec.gateway.split(',').find(isOfFamily) ?? '';
    const moment = momentOf(reply.moment);
    const shown = family === 4 ? ipv4Map(reply, spec, { cidr, gateway, range }) : ipv6Map(reply, page);
    const body: AddressMap = {
      position: positionOf(reply),
      command: ipledger(['state'], { subnet: name, at: seq > 0 ? seq : at }),
      subnet: name,
      family,
      gateway,
      moment,
      previous: reply.previous ? momentOf(reply.previous) : null,
      next: reply.next ? momentOf(reply.next) : null,
      first: momentOf(reply.first),
      last: momentOf(reply.last),
      cidr: range || cidr,
      ...shown,
    };
    const table = { columns: ['address', 'state'], rows: notFree(reply) };
    return { body, table, tableBytes: reply.states.length * bytesPerState };
  };
}

/**
 * Reads the map. An instant after the last event means now, and an instant before the Subnet means
 * its first event.
 */
async function readMap(reads: LedgerReads, key: MapKey, signal: AbortSignal): Promise<MapAddressesReply> {
  const instant = Date.parse(key.at);
  const at = Number.isNaN(instant) || instant > Date.now() ? '' : new Date(instant).toISOString();
  try {
    return await reads.map({ ...key, at }, signal);
  } catch (error) {
    if (at === '') throw error;
    const { first } = await reads.map({ ...key, at: '' }, signal);
    if (!first || Date.parse(first.at) <= Date.parse(at)) throw error;
    return reads.map({ ...key, at: '', seq: first.seq }, signal);
  }
}

/** The events of an address around an event. */
export function showMoments(reads: LedgerReads): View {
  return async ({ params: { name = '' }, query, signal }) => {
    const family = readFamily(query);
    const [address, seq] = [query.address('address'), readSeq(query)];
    if (address === '') throw new IpledgerError('INVALID_REQUEST', 'address is missing');
    const reply = await reads.moments({ subnet: name, family, seq, address }, signal);
    const body: AddressMoments = {
      position: positionOf(reply),
      command: ipledger(['history', address], { subnet: name }),
      previous: reply.previous ? momentOf(reply.previous) : null,
      next: reply.next ? momentOf(reply.next) : null,
    };
    return { body };
  };
}

const readSeq = (query: Query): number => query.number('seq', { min: 0, max: Number.MAX_SAFE_INTEGER, byDefault: 0 });

function readFamily(query: Query): 4 | 6 {
  const text = query.text('family', 1);
  if (text === '' || text === '4') return 4;
  if (text === '6') return 6;
  throw new IpledgerError('INVALID_REQUEST', 'family: use 4 or 6');
}

function momentOf(moment: LedgerMoment | undefined): Moment {
  if (!moment) throw new IpledgerError('BUG', 'a reply of the read model has no moment');
  return moment;
}

function* notFree({ ipv4, ipv6, states }: MapAddressesReply): Generator<object> {
  for (const [index, state] of states.entries())
    yield { address: ipv6[index] ?? ipv4Text(ipv4[index] ?? 0), state: stateNames[state] };
}

interface Shown {
  readonly cidr: string;
  readonly gateway: string;
  /** The part of the Subnet that is shown; '' for all of it. */
  readonly range: string;
}

type MapPart = Pick<AddressMap, 'counts' | 'cells' | 'blocks' | 'used' | 'nextPage'>;

function ipv4Map(reply: MapAddressesReply, { excludeIps }: SubnetSpec, { cidr, gateway, range }: Shown): MapPart {
  const [all, part] = [parseCidr(cidr), parseCidr(range || cidr)];
  const isPart = all && part && cidrsOverlap(all, part) && part.prefix >= all.prefix;
  if (!isPart) throw new IpledgerError('INVALID_REQUEST', `${range} is no part of ${cidr}`);
  const excluded = union(readExcludes(excludeIps, []).filter(({ family }) => family === 4));
  const plan: Plan = {
    usable: difference([hostsOf(all)], excluded).map(numbersOf),
    gateway: Number(parseAddress(gateway)?.value ?? -1),
  };
  const shown = numbersOf({ first: part.base, last: lastAddressOf(part) });
  if (shown.last - shown.first < maxCells) {
    const cells = cellsOf(reply, shown, plan);
    return { counts: countCells(cells), cells: Buffer.from(cells).toString('base64') };
  }
  const blocks = blocksOf(reply, shown, plan);
  return { blocks, counts: blocks.map(({ counts }) => counts).reduce(addCounts) };
}

interface Range {
  readonly first: number;
  readonly last: number;
}

const numbersOf = ({ first, last }: Interval): Range => ({ first: Number(first), last: Number(last) });
const ipv4Text = (address: number): string => formatAddress({ family: 4, value: BigInt(address) });

/** The part of the spec that concerns the addresses of a Subnet. */
interface Plan {
  /** The usable ranges, sorted. All other addresses are excluded, and so is the gateway. */
  readonly usable: readonly Range[];
  readonly gateway: number;
}

/** Fills a byte for each address: excluded or free, then the gateway, and then the claims. */
function cellsOf(reply: MapAddressesReply, { first, last }: Range, { usable, gateway }: Plan): Uint8Array {
  const cells = new Uint8Array(last - first + 1).fill(excludedCell);
  for (const range of usable)
    if (range.last >= first) cells.fill(freeCell, Math.max(range.first - first, 0), range.last - first + 1);
  if (gateway >= first && gateway <= last) cells[gateway - first] = gatewayCell;
  for (const [index, address] of reply.ipv4.entries())
    if (address >= first && address <= last) cells[address - first] = cellOf(reply.states[index] ?? 'MAP_STATE_FREE');
  return cells;
}

function countCells(cells: Uint8Array): StateCounts {
  const counts = cellStates.map(() => 0);
  for (const cell of cells) counts[cell] = (counts[cell] ?? 0) + 1;
  return toCounts(counts);
}

const toCounts = (counts: readonly number[]): StateCounts =>
  Object.fromEntries(cellStates.map((state, index) => [state, counts[index] ?? 0])) as unknown as StateCounts;

const addCounts = (one: StateCounts, other: StateCounts): StateCounts =>
  toCounts(cellStates.map((state) => one[state] + other[state]));

/**
 * Counts the cells of each block, in time that grows with claims and ranges, not with addresses.
 */
function blocksOf({ ipv4, states }: MapAddressesReply, { first, last }: Range, { usable, gateway }: Plan): MapBlock[] {
  const size = Math.max(maxCells, (last - first + 1) / maxBlocks);
  const prefix = 32 - Math.log2(size);
  const blocks = Array.from({ length: (last - first + 1) / size }, () => cellStates.map(() => 0));
  const blockOf = (address: number): number => Math.floor((address - first) / size);
  /** Changes the state of a number of addresses from `address` on, which are in one block. */
  const change = (address: number, before: number, after: number, count = 1): void => {
    const counts = blocks[blockOf(address)] as number[];
    counts[before] = (counts[before] ?? 0) - count;
    counts[after] = (counts[after] ?? 0) + count;
  };
  for (const counts of blocks) counts[excludedCell] = size;
  for (const range of usable)
    for (let from = Math.max(range.first, first); from <= Math.min(range.last, last);) {
      const end = Math.min(range.last, first + (blockOf(from) + 1) * size - 1);
      change(from, excludedCell, freeCell, end - from + 1);
      from = end + 1;
    }
  if (gateway >= first && gateway <= last) change(gateway, excludedCell, gatewayCell);
  let next = 0;
  for (const [index, address] of ipv4.entries()) {
    if (address < first || address > last) continue;
    while ((usable[next]?.last ?? Infinity) < address) next++; // the addresses are sorted, too
    const planned = address >= (usable[next]?.first ?? Infinity) ? freeCell : excludedCell;
    change(address, address === gateway ? gatewayCell : planned, cellOf(states[index] ?? 'MAP_STATE_FREE'));
  }
  return blocks.map((counts, index) => ({
    cidr: `${ipv4Text(first + index * size)}/${prefix}`,
    counts: toCounts(counts),
  }));
}

/** @param page the position of the first address of the page in the list */
function ipv6Map({ ipv6, states }: MapAddressesReply, page: string): MapPart {
  const from = /^\d{1,7}$/.test(page) ? Number(page) : 0;
  const counts = cellStates.map(() => 0);
  for (const state of states) counts[cellOf(state)] = (counts[cellOf(state)] ?? 0) + 1;
  const used = ipv6.slice(from, from + usedPerPage).map((address, index) => ({
    address,
    state: stateNames[states[from + index] ?? 'MAP_STATE_FREE'],
  }));
  return {
    counts: toCounts(counts),
    used,
    nextPage: from + usedPerPage < ipv6.length ? String(from + usedPerPage) : '',
  };
}
