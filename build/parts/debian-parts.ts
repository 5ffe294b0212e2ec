/** Executables of Debian with the libraries that they load, and their packages. */
import { execFileSync } from 'node:child_process';
import { globSync, lstatSync, readFileSync, readlinkSync, realpathSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Architecture, architectures, cacheFolder } from '../architecture.ts';
import type { Part } from './part.ts';

/**
 * The packages that an image may contain, with the license of the files that it takes. A library of
 * another package fails the build: read its copyright file, and add it here. Each release of Debian
 * has some of these names.
 */
const licenses: Readonly<Record<string, string>> = {
  coreutils: 'GPL-3.0-or-later',
  dash: 'BSD-3-Clause',
  ethtool: 'GPL-2.0-only',
  iproute2: 'GPL-2.0-or-later',
  libatomic1: 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libbpf1: 'LGPL-2.1-only OR BSD-2-Clause',
  libbsd0: 'BSD-3-Clause',
  libc6: 'LGPL-2.1-or-later',
  libcap2: 'BSD-3-Clause OR GPL-2.0-only',
  libelf1: 'LGPL-3.0-or-later OR GPL-2.0-or-later',
  libelf1t64: 'LGPL-3.0-or-later OR GPL-2.0-or-later',
  'libgcc-s1': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libmd0: 'BSD-3-Clause',
  libmnl0: 'LGPL-2.1-or-later',
  'libpcre2-8-0': 'BSD-3-Clause',
  libselinux1: 'LicenseRef-public-domain',
  'libstdc++6': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libzstd1: 'BSD-3-Clause',
  'util-linux': 'GPL-2.0-or-later',
  zlib1g: 'Zlib',
};

/** Packages with the copyright files of libraries above. Their names depend on Debian's release. */
const documents = ['gcc-12-base', 'gcc-14-base'];

/** Downloads the packages of an architecture, and replaces those of an earlier call. */
export const fetchDebianParts = (architecture: Architecture): void =>
  fetchDebianPackages([...Object.keys(licenses), ...documents], architecture);

/** A file of a Debian package. */
export interface DebianFile {
  readonly package: string;
  /** The path in the image, where the dynamic loader searches. */
  readonly path: string;
  /** The path on this machine. */
  readonly source: string;
}

/** The libraries that executables load, with the dynamic loader, sorted by path. */
export function findLibraries(executables: readonly string[], architecture: Architecture): DebianFile[] {
  const { triplet, loader } = architectures[architecture];
  const found = new Map<string, DebianFile>();
  const visit = (file: string): void => {
    for (const name of [basename(loader), ...neededBy(file)]) {
      if (found.has(name)) continue;
      const path = name === basename(loader) ? loader : `/lib/${triplet}/${name}`;
      const library = { path, ...findFile(`{usr/,}lib/${triplet}/${name}`, architecture) };
      found.set(name, library);
      visit(library.source);
    }
  };
  executables.forEach(visit);
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The names of the libraries that an ELF file of any architecture loads. */
const neededBy = (file: string): string[] =>
  [...execFileSync('readelf', ['-d', file], { encoding: 'utf8' }).matchAll(/\(NEEDED\).*\[(.+)\]$/gm)].map(
    ([, name = '']) => name,
  );

/** The program of Debian with this name. */
export const findExecutable = (name: string, architecture: Architecture): DebianFile => ({
  path: `/usr/bin/${name}`,
  ...findFile(`{usr/,}{,s}bin/${name}`, architecture),
});

/** @throws Error if no package has the file, or if it is a link out of the package */
function findFile(pattern: string, architecture: Architecture): Pick<DebianFile, 'package' | 'source'> {
  const packages = packagesFolder(architecture);
  const [match] = globSync(`*/${pattern}`, { cwd: packages }).sort();
  if (match === undefined) throw new Error(`no package of debian-parts.ts has ${pattern} for ${architecture}: add it`);
  const [name = ''] = match.split('/');
  const source = realpathSync(join(packages, match));
  if (!source.startsWith(`${realpathSync(join(packages, name))}/`)) throw new Error(`${match} leads to ${source}`);
  return { package: name, source };
}

/** The packages that the files belong to. */
export const readDebianParts = (files: readonly DebianFile[], architecture: Architecture): Part[] =>
  [...new Set(files.map((file) => file.package))].sort().map((name): Part => {
    const control = readFileSync(join(packagesFolder(architecture), name, 'DEBIAN/control'), 'utf8');
    const version = /^Version: (.+)$/m.exec(control)?.[1] ?? '';
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    const license = licenses[name];
    if (license === undefined) throw new Error(`no license is listed for Debian's ${name}: add it to debian-parts.ts`);
    return { kind: 'debian', name, version, license, purl, notice: readNotice(name, architecture) };
  });

/** Reads the copyright file, also where a package links to the documents of another package. */
function readNotice(name: string, architecture: Architecture): string {
  const documentsOf = (each: string): string => join(packagesFolder(architecture), each, 'usr/share/doc', each);
  const owner = lstatSync(documentsOf(name)).isSymbolicLink() ? basename(readlinkSync(documentsOf(name))) : name;
  return readFileSync(join(documentsOf(owner), 'copyright'), 'utf8').trim();
}

/** The folder that has a folder for each package, with its files and its folder DEBIAN. */
export const packagesFolder = (architecture: Architecture): string => join(cacheFolder(architecture), 'packages');

/**
 * Fetches the newest versions from the machine's sources of apt, which verifies their signatures.
 * Its state is in a folder of its own, so the packages and settings of the machine do not change. A
 * name that this release of Debian does not have is left out.
 * @throws Error with the output of apt
 */
function fetchDebianPackages(names: readonly string[], architecture: Architecture): void {
  const archives = join(cacheFolder(architecture), 'archives');
  const packages = packagesFolder(architecture);
  for (const folder of [archives, join(cacheFolder(architecture), 'lists/partial')])
    mkdirSync(folder, { recursive: true });
  const apt = (program: 'apt-get' | 'apt-cache', ...args: string[]): string =>
    execFileSync(program, [...aptOptions(architecture), ...args], { cwd: archives, encoding: 'utf8', stdio: 'pipe' });

  apt('apt-get', 'update');
  const records = apt('apt-cache', 'show', '--no-all-versions', ...names)
    .trim()
    .split('\n\n');
  const selected = records.map((record) => {
    const [name, version, kind] = ['Package', 'Version', 'Architecture'].map(
      (field) => new RegExp(`^${field}: (.+)$`, 'm').exec(record)?.[1] ?? '',
    );
    return { name, file: `${name}_${version?.replaceAll(':', '%3a')}_${kind}.deb` };
  });
  apt('apt-get', 'download', ...selected.map(({ name = '' }) => name));
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(packages, { recursive: true });
  for (const { name = '', file } of selected)
    execFileSync('dpkg-deb', ['-R', join(archives, file), join(packages, name)]);
}

const aptOptions = (architecture: Architecture): string[] =>
  [
    `APT::Architecture=${architecture}`,
    `APT::Architectures=${architecture}`,
    `Dir::State=${cacheFolder(architecture)}`,
    'Dir::State::status=/dev/null',
    `Dir::Cache=${cacheFolder(architecture)}`,
    // The user of apt cannot write to the folder of another user
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
