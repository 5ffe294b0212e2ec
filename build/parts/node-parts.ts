/** Node, and the libraries that its executable contains. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Architecture, architectures, cacheFolder, ownArchitecture } from '../architecture.ts';
import { root } from '../bundle/bundle-programs.ts';
import type { Part } from './part.ts';

const nodeFolder = (architecture: Architecture): string =>
  join(cacheFolder(architecture), `node-${process.versions.node}`);

/** The executable of Node. `fetchNode` must have fetched it for another architecture. */
export const nodeExecutable = (architecture: Architecture): string =>
  architecture === ownArchitecture
    ? join(root, 'node_modules/node/bin/node')
    : join(nodeFolder(architecture), 'package/bin/node');

/** Downloads Node for another architecture, in the running version. npm verifies its digest. */
export function fetchNode(architecture: Architecture): void {
  if (existsSync(nodeExecutable(architecture))) return;
  const folder = `${nodeFolder(architecture)}.part`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const name = `${architectures[architecture].nodePackage}@${process.versions.node}`;
  const archive = execFileSync('npm', ['pack', '--silent', name], { cwd: folder, encoding: 'utf8' }).trim();
  execFileSync('tar', ['-xzf', archive, 'package/bin/node'], { cwd: folder });
  rmSync(join(folder, archive));
  renameSync(folder, nodeFolder(architecture));
}

/** The libraries of `process.versions`, with the licenses of Node's LICENSE file. */
const licenses: Readonly<Record<string, string>> = {
  acorn: 'MIT',
  ada: 'Apache-2.0 OR MIT',
  amaro: 'MIT',
  ares: 'MIT',
  brotli: 'MIT',
  cldr: 'Unicode-3.0',
  icu: 'Unicode-3.0',
  llhttp: 'MIT',
  merve: 'Apache-2.0 OR MIT',
  nbytes: 'MIT',
  ncrypto: 'MIT',
  nghttp2: 'MIT',
  nghttp3: 'MIT',
  ngtcp2: 'MIT',
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0',
  simdutf: 'MIT',
  sqlite: 'blessing',
  tz: 'LicenseRef-public-domain',
  undici: 'MIT',
  unicode: 'Unicode-3.0',
  uv: 'MIT',
  uvwasi: 'MIT',
  v8: 'BSD-3-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause',
};

/** Entries of `process.versions` that number an interface, not a library. */
const interfaces = new Set(['node', 'modules', 'napi']);

/** The parts of the running Node. The notice of Node includes those of its libraries. */
export function readNodeParts(): Part[] {
  const { node: version } = process.versions;
  const notice = readFileSync(join(import.meta.dirname, `license-texts/node-${version}.txt`), 'utf8').trim();
  const libraries = Object.entries(process.versions).filter(([name, value]) => !interfaces.has(name) && value);
  return [
    { kind: 'node', name: 'node', version, license: 'MIT', purl: `pkg:generic/node@${version}`, notice },
    ...libraries.map(([name, value = '']): Part => {
      const purl = `pkg:generic/${name}@${value}?in=node`;
      return { kind: 'node', name, version: value, license: licenses[name] ?? '', purl, notice: '' };
    }),
  ];
}
