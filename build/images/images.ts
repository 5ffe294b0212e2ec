/**
 * `make images`: builds the images into dist/. ARCHITECTURES lists what they are built for,
 * IMAGE_PREFIX goes before their names, and SOURCE_DATE_EPOCH is their time.
 */
import { join } from 'node:path';
import { architectures, parseArchitecture } from '../architecture.ts';
import { root } from '../bundle/bundle-programs.ts';
import { fetchDebianParts } from '../parts/debian-parts.ts';
import { fetchNode } from '../parts/node-parts.ts';
import { readRelease } from '../release.ts';
import { buildImages } from './build-images.ts';

const { ARCHITECTURES, IMAGE_PREFIX } = process.env;
const selected = (ARCHITECTURES || Object.keys(architectures).join(' ')).trim().split(/\s+/).map(parseArchitecture);
for (const architecture of selected) {
  fetchDebianParts(architecture);
  fetchNode(architecture);
}
const settings = { folder: join(root, 'dist'), prefix: IMAGE_PREFIX || 'localhost', release: readRelease(process.env) };
for (const { archive, digest, unpackedBytes } of await buildImages({ ...settings, architectures: selected })) {
  const sizes = Object.entries(unpackedBytes).map(([name, bytes]) => `${name} ${(bytes / 1e6).toFixed(1)} MB unpacked`);
  console.log(`${archive}  ${digest}  ${sizes.join(', ')}`);
}
