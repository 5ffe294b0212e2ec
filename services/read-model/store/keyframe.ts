/** Keyframes: all claims of a Subnet after an event, packed. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { AddressKey } from './address-key.ts';

/** An address, the bits of its state, and the last event that changed it. */
export type ClaimRow = readonly [ip: AddressKey, state: number, last: number];

const params = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Packs by columns, which is smaller than by rows. */
export function packKeyframe(rows: readonly ClaimRow[]): Buffer {
  const columns = [0, 1, 2].map((index) => rows.map((row) => row[index]));
  return zstdCompressSync(Buffer.from(JSON.stringify(columns)), { params });
}

/** Claims by columns, sorted by address. */
export interface ClaimColumns {
  readonly ips: readonly AddressKey[];
  readonly states: readonly number[];
  readonly lasts: readonly number[];
}

/** Unpacks a keyframe. @throws Error for bytes that are not a keyframe */
export function unpackKeyframe(packed: Uint8Array): ClaimColumns {
  const [ips, states, lasts] = JSON.parse(zstdDecompressSync(packed).toString()) as [AddressKey[], number[], number[]];
  return { ips, states, lasts };
}
