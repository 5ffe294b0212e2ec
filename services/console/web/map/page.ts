/**
 * One page of the address map: which address or block each cell is, and what is in it. A block of
 * at most 256 addresses has a cell for each. A larger one has at most 256 cells, and each opens as
 * a page of its own. Of IPv6 only the addresses that are not free have cells.
 */
import { type AddressMap, type CellState, cellStates, type StateCounts } from '../../api/address-map.ts';
import {
  addressBits,
  type Cidr,
  type Family,
  formatAddress,
  formatCidr,
  lastAddressOf,
  parseAddress,
  parseCidr,
} from '../../../../ledger/domain/addresses/address.ts';

export interface Cell {
  /** An address, or the CIDR of a block. */
  readonly name: string;
  /** The part of the name that differs from the cells beside it. */
  readonly label: string;
  readonly first: bigint;
  readonly counts: StateCounts;
}

export interface Page {
  readonly family: Family;
  /** Whether a cell is one address. */
  readonly isOfAddresses: boolean;
  readonly count: number;
  /** The states of each cell as indexes in `cellStates`: one, or `partsOfBlock` of a block. */
  readonly parts: Uint8Array;
  cell(index: number): Cell;
  /** The cell of an address or of a CIDR; -1 for none. */
  indexOf(name: string): number;
}

const partsOfBlock = 256;
const leafPrefix = 24;

/** The page of a block that is the range of a map, or a part of it. */
export function pageOf(map: AddressMap, block: Cidr): Page {
  if (map.used) return pageOfUsed(map.used);
  if (map.blocks) return pageOfBlocks(map.blocks);
  const range = parseCidr(map.cidr);
  const cells = decodeCells(map.cells ?? '');
  const start = range ? Number(block.base - range.base) : 0;
  const parts = cells.subarray(start, start + Number(lastAddressOf(block) - block.base) + 1);
  return block.prefix >= leafPrefix ? pageOfAddresses(block, parts) : pageOfLeaves(block, parts);
}

function pageOfAddresses({ family, base }: Cidr, parts: Uint8Array): Page {
  const firstOf = (index: number): bigint => base + BigInt(index);
  return createPage(family, parts, {
    isOfAddresses: true,
    count: parts.length,
    firstOf,
    nameOf: (index) => formatAddress({ family, value: firstOf(index) }),
    find: (value) => Number(value - base),
  });
}

/** The blocks of 256 addresses of a block with at most 65,536. */
function pageOfLeaves({ family, base }: Cidr, parts: Uint8Array): Page {
  const firstOf = (index: number): bigint => base + BigInt(index * partsOfBlock);
  return createPage(family, parts, {
    isOfAddresses: false,
    count: parts.length / partsOfBlock,
    firstOf,
    nameOf: (index) => formatCidr({ family, base: firstOf(index), prefix: leafPrefix }),
    find: (value) => Number((value - base) >> 8n),
  });
}

/** A page of blocks with known counts only. Each state gets its share of the parts. */
function pageOfBlocks(blocks: NonNullable<AddressMap['blocks']>): Page {
  const parts = new Uint8Array(blocks.length * partsOfBlock);
  blocks.forEach(({ counts }, index) => parts.set(sharesOf(counts), index * partsOfBlock));
  const cidrs = blocks.map(({ cidr }) => parseCidr(cidr) as Cidr);
  return createPage(cidrs[0]?.family ?? 4, parts, {
    isOfAddresses: false,
    count: blocks.length,
    firstOf: (index) => cidrs[index]?.base ?? 0n,
    nameOf: (index) => blocks[index]?.cidr ?? '',
    countsOf: (index) => blocks[index]?.counts,
    find: (value) => cidrs.findIndex((cidr) => value >= cidr.base && value <= lastAddressOf(cidr)),
  });
}

function pageOfUsed(used: NonNullable<AddressMap['used']>): Page {
  const parts = Uint8Array.from(used, ({ state }) => cellStates.indexOf(state));
  const values = used.map(({ address }) => parseAddress(address)?.value ?? 0n);
  return createPage(6, parts, {
    isOfAddresses: true,
    count: used.length,
    firstOf: (index) => values[index] ?? 0n,
    nameOf: (index) => used[index]?.address ?? '',
    find: (value) => values.indexOf(value),
  });
}

interface Source extends Pick<Page, 'isOfAddresses' | 'count'> {
  firstOf(index: number): bigint;
  nameOf(index: number): string;
  /** The counts of a cell. Default: its parts are counted. */
  countsOf?(index: number): StateCounts | undefined;
  /** The index of the cell of an address; outside of 0 to `count` - 1 for another address. */
  find(value: bigint): number;
}

function createPage(family: Family, parts: Uint8Array, source: Source): Page {
  const { isOfAddresses, count, firstOf, nameOf, countsOf, find } = source;
  const partsPerCell = isOfAddresses ? 1 : partsOfBlock;
  return {
    family,
    isOfAddresses,
    count,
    parts,
    cell: (index) => ({
      name: nameOf(index),
      label: labelOf(nameOf(index), isOfAddresses),
      first: firstOf(index),
      counts: countsOf?.(index) ?? countStates(parts.subarray(index * partsPerCell, (index + 1) * partsPerCell)),
    }),
    indexOf(name) {
      const value = parseAddress(name.split('/', 1)[0] ?? '');
      const index = value?.family === family ? find(value.value) : -1;
      return index >= 0 && index < count ? index : -1;
    },
  };
}

export function countStates(parts: Uint8Array): StateCounts {
  const counts = Object.fromEntries(cellStates.map((state) => [state, 0])) as Record<CellState, number>;
  for (const part of parts) counts[cellStates[part] ?? 'free']++;
  return counts;
}

/** 256 parts with the states in their order: at least one part for each state that occurs. */
export function sharesOf(counts: StateCounts): Uint8Array {
  const total = cellStates.reduce((sum, state) => sum + counts[state], 0);
  const parts = new Uint8Array(partsOfBlock);
  let end = partsOfBlock;
  // The last state that has room is `free`, whose index is 0
  for (let state = cellStates.length - 1; state > 0; state--) {
    const count = counts[cellStates[state] ?? 'free'];
    const share = count === 0 ? 0 : Math.max(1, Math.round((count / total) * partsOfBlock));
    const start = Math.max(0, end - share);
    parts.fill(state, start, end);
    end = start;
  }
  return parts.reverse();
}

/** The bytes of base64. */
function decodeCells(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

function labelOf(name: string, isOfAddresses: boolean): string {
  if (name.includes(':')) return name.split(':').at(-1) || '0';
  return (isOfAddresses ? name.split('.').at(-1) : name) ?? '';
}

/** The block of the page that leads to `block`: at most 256 cells at each step. */
export function parentOf(block: Cidr, subnet: Cidr): Cidr | undefined {
  let [parent, prefix]: [Cidr | undefined, number] = [undefined, subnet.prefix];
  while (prefix < block.prefix) {
    const bits = BigInt(addressBits(block.family) - prefix);
    parent = { family: block.family, base: (block.base >> bits) << bits, prefix };
    prefix = prefix >= 16 ? leafPrefix : prefix + 8;
  }
  return parent;
}
