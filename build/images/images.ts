/** `make images`: builds the images into dist/. IMAGE_PREFIX goes before their names, SOURCE_DATE_EPOCH is their time. */
import { join } from 'node:path';
import { root } from '../bundle/bundle-programs.ts';
import { readRelease } from '../release.ts';
import { buildImages } from './build-images.ts';

const prefix = process.env['IMAGE_PREFIX'] || 'localhost';
const images = await buildImages({ folder: join(root, 'dist'), prefix, release: readRelease(process.env) });
for (const { archive, digest, unpackedBytes } of images)
  console.log(`${archive}  ${digest}  ${(unpackedBytes / 1e6).toFixed(1)} MB unpacked`);
