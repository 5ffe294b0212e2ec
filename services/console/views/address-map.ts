/** The address map of a Subnet, now or at an earlier time. */
import { IpledgerError } from '../../../lib/errors.ts';
import type {
  MapAddressesReply,
  MapState,
  Moment as LedgerMoment,
  SubnetSpec,
} from '../../../proto/generated/ipledger.ts';
import {
  type AddressMap,
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
import { addressOf, hostsOf, type Range, rangeOfCidr, rangesOf } from './ipv4-ranges.ts';

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
const [excludedCell, gatewayCell] = [cellStates.indexOf('excluded'), cellStates.indexOf('gateway')];

export function showMap(reads: LedgerReads): View {
  return async ({ params: { name = '' }, query }) => {
    const family = readFamily(query);
    const seq = query.number('seq', { min: 0, max: Number.MAX_SAFE_INTEGER, byDefault: 0 });
    const [at, range, page] = [query.instant('at'), query.cidr('range'), query.page()];
    const reply = await readMap(reads, { subnet: name, family, seq, at, address: query.address('address') });
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
 * An instant after the last event is the present, and one before the Subnet existed its beginning.
 */
async function readMap(reads: LedgerReads, key: MapKey): Promise<MapAddressesReply> {
  const at = Date.parse(key.at) > Date.now() ? '' : key.at;
  try {
    return await reads.map({ ...key, at });
  } catch (error) {
    if (at === '') throw error;
    const { first } = await reads.map({ ...key, at: '' });
    if (!first || Date.parse(first.at) <= Date.parse(at)) throw error;
    return reads.map({ ...key, at: '', seq: first.seq });
  }
}

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
    yield { address: ipv6[index] ?? addressOf(ipv4[index] ?? 0), state: stateNames[state] };
}

interface Shown {
  readonly cidr: string;
  readonly gateway: string;
  /** The part of the Subnet that is shown; '' for all of it. */
  readonly range: string;
}

type MapPart = Pick<AddressMap, 'counts' | 'cells' | 'blocks' | 'used' | 'nextPage'>;

function ipv4Map(reply: MapAddressesReply, spec: SubnetSpec, { cidr, gateway, range }: Shown): MapPart {
  const all = rangeOfCidr(cidr);
  const part = range === '' ? all : rangeOfCidr(range);
  if (!part || !all || part.first < all.first || part.last > all.last)
    throw new IpledgerError('INVALID_REQUEST', `${range} is no part of ${cidr}`);
  const plan: Plan = {
    all,
    hosts: hostsOf(all),
    excluded: rangesOf(spec.excludeIps),
    gateway: rangesOf([gateway])[0]?.first,
  };
  if (part.last - part.first < maxCells) {
    const cells = cellsOf(reply, part, plan);
    return { counts: countCells(cells), cells: Buffer.from(cells).toString('base64') };
  }
  const blocks = blocksOf(reply, part, plan);
  return { blocks, counts: blocks.map(({ counts }) => counts).reduce(addCounts) };
}

/** What the spec states about the addresses of a Subnet. */
interface Plan {
  readonly all: Range;
  readonly hosts: Range;
  readonly excluded: readonly Range[];
  readonly gateway: number | undefined;
}

/** One byte for each address: excluded ones first, over them the gateway, and then the claims. */
function cellsOf(reply: MapAddressesReply, { first, last }: Range, { hosts, excluded, gateway }: Plan): Uint8Array {
  const cells = new Uint8Array(last - first + 1);
  const mark = (from: number, to: number, cell: number): void => {
    if (to >= first && from <= last) cells.fill(cell, Math.max(from, first) - first, Math.min(to, last) - first + 1);
  };
  mark(0, hosts.first - 1, excludedCell);
  mark(hosts.last + 1, 2 ** 32 - 1, excludedCell);
  for (const range of excluded) mark(range.first, range.last, excludedCell);
  if (gateway !== undefined) mark(gateway, gateway, gatewayCell);
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

/** Takes time with the claims and the excluded ranges, and not with the addresses. */
function blocksOf({ ipv4, states }: MapAddressesReply, { first, last }: Range, plan: Plan): MapBlock[] {
  const size = Math.max(maxCells, (last - first + 1) / maxBlocks);
  const prefix = 32 - Math.log2(size);
  const blocks = Array.from({ length: (last - first + 1) / size }, (_, index) => ({
    first: first + index * size,
    counts: cellStates.map(() => 0),
  }));
  const add = (block: { counts: number[] } | undefined, cell: number, count: number): void => {
    if (block) block.counts[cell] = (block.counts[cell] ?? 0) + count;
  };
  const isExcluded = (address: number): boolean =>
    plan.excluded.some((range) => address >= range.first && address <= range.last);
  for (const block of blocks) {
    const end = block.first + size - 1;
    const excluded = plan.excluded.reduce((sum, range) => sum + overlap(range, block.first, end), 0);
    add(block, excludedCell, excluded + Number(block.first === plan.all.first) + Number(end === plan.all.last));
  }
  const blockOf = (address: number) => blocks[Math.floor((address - first) / size)];
  if (plan.gateway !== undefined) {
    add(blockOf(plan.gateway), gatewayCell, 1);
    if (isExcluded(plan.gateway)) add(blockOf(plan.gateway), excludedCell, -1);
  }
  for (const [index, address] of ipv4.entries()) {
    if (address < first || address > last) continue;
    add(blockOf(address), cellOf(states[index] ?? 'MAP_STATE_FREE'), 1);
    if (isExcluded(address)) add(blockOf(address), excludedCell, -1);
  }
  return blocks.map(({ first: start, counts }) => {
    const free = size - counts.reduce((sum, count) => sum + count, 0);
    return { cidr: `${addressOf(start)}/${prefix}`, counts: { ...toCounts(counts), free } };
  });
}

const overlap = (range: Range, first: number, last: number): number =>
  Math.max(0, Math.min(range.last, last) - Math.max(range.first, first) + 1);

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
