/** The files of the images: Node with its libraries on an empty base, then the programs. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Architecture, architectures } from '../architecture.ts';
import { root } from '../bundle/bundle-programs.ts';
import { tarFile, type TarEntry } from '../../lib/tar/format-tar.ts';
import type { DebianFile } from '../parts/debian-parts.ts';
import { nodeExecutable } from '../parts/node-parts.ts';
import type { Part } from '../parts/part.ts';

/** The user of the image `ipledger`, and its group. */
export const nonRootUid = 65_532;

/** Strips the symbols of Node, which take 18 MB. @param folder for the stripped file */
export function stripNode(architecture: Architecture, folder: string): string {
  const stripped = join(folder, 'node');
  const strip = `${architectures[architecture].triplet}-strip`;
  execFileSync(strip, ['--strip-unneeded', '-o', stripped, nodeExecutable(architecture)]);
  return stripped;
}

/** The layer that both images share. */
export const baseFiles = (node: string, libraries: readonly DebianFile[], parts: readonly Part[]): TarEntry[] => [
  tarFile('usr/local/bin/node', readFileSync(node), 0o755),
  ...debianFiles(libraries, parts),
  // Node looks up the name of its user
  tarFile(
    'etc/passwd',
    `root:x:0:0:root:/:/sbin/nologin\nnonroot:x:${nonRootUid}:${nonRootUid}:nonroot:/:/sbin/nologin\n`,
  ),
  tarFile('etc/group', `root:x:0:\nnonroot:x:${nonRootUid}:\n`),
  // glibc queries DNS before /etc/hosts if this file is missing
  tarFile('etc/nsswitch.conf', 'hosts: files dns\n'),
  { path: 'tmp', mode: 0o1777, content: 'folder' },
];

/** Files of Debian at their paths, with the copyright files of their packages. */
export const debianFiles = (files: readonly DebianFile[], parts: readonly Part[]): TarEntry[] => [
  ...files.map(({ path, source }) => tarFile(path, readFileSync(source), 0o755)),
  ...parts
    .filter(({ kind }) => kind === 'debian')
    .map(({ name, notice }) => tarFile(`usr/share/doc/${name}/copyright`, `${notice}\n`)),
];

/** The files of a bundle, in /app: programs, .proto files, and those of the console. */
export const bundleFiles = (folder: string): TarEntry[] =>
  globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => tarFile(`app/${relative(folder, file)}`, readFileSync(file)));

/** The documents of an image. */
export const documentFiles = (sbom: string, notices: string): TarEntry[] => [
  tarFile('usr/share/doc/ipledger/LICENSE', readFileSync(join(root, 'LICENSE'))),
  tarFile('usr/share/doc/ipledger/THIRD-PARTY-NOTICES', notices),
  tarFile('usr/share/doc/ipledger/sbom.cdx.json', sbom),
];
