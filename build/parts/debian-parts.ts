/** Executables of Debian with the libraries that they load, and the packages that these files belong to. */
import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from './part.ts';

/**
 * The packages that an image may contain, with the license of the files that it takes. Another package fails the build: read its
 * copyright file, and add it here.
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

/** A file of a Debian package. */
export interface DebianFile {
  /** Where it is in the image; the dynamic loader searches there. */
  readonly path: string;
  /** Where it is on this machine. */
  readonly source: string;
}

/** The libraries that executables load, with the dynamic loader, sorted by path. */
export function findLibraries(executables: readonly string[]): DebianFile[] {
  const paths = executables.flatMap((executable) => parseLdd(execFileSync('ldd', [executable], { encoding: 'utf8' })));
  return [...new Set(paths)].sort().map((path) => ({ path, source: realpathSync(path) }));
}

/** The paths in the output of ldd. @throws Error if it has a library that was not found */
export function parseLdd(output: string): string[] {
  const missing = /^\s*(\S+) => not found$/m.exec(output)?.[1];
  if (missing !== undefined) throw new Error(`the library ${missing} was not found`);
  return [...output.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm)].map(([, path = '']) => path);
}

/** The file on PATH, as /usr/bin/ip. */
export const findExecutable = (name: string): string =>
  execFileSync('/bin/sh', ['-c', 'PATH=$PATH:/usr/sbin:/sbin command -v "$1"', 'sh', name], {
    encoding: 'utf8',
  }).trim();

/** The packages that the files belong to. */
export const readDebianParts = (files: readonly string[]): Part[] =>
  [...new Set(files.map(findPackage))].sort().map((name): Part => {
    const format = '${Version} ${Architecture}';
    const output = execFileSync('dpkg-query', ['-W', '-f', format, name], { encoding: 'utf8' });
    const [version = '', architecture = ''] = output.split(' ');
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    const license = licenses[name];
    if (license === undefined) throw new Error(`no license is listed for Debian's ${name}: add it to debian-parts.ts`);
    const notice = readFileSync(join('/usr/share/doc', name, 'copyright'), 'utf8').trim();
    return { kind: 'debian', name, version, license, purl, notice };
  });

/** The package of a file. The package may list it below /usr or below /. */
function findPackage(file: string): string {
  const plain = [file, realpathSync(file)].map((path) => path.replace(/^\/usr(?=\/)/, ''));
  const paths = plain.flatMap((path) => [path, `/usr${path}`]);
  const { stdout } = runDpkg(paths);
  const name = /^([^\s:,]+)(?::\w+)?: \//m.exec(stdout)?.[1];
  if (name === undefined) throw new Error(`${file} belongs to no Debian package: images are built on Debian`);
  return name;
}

/** dpkg exits with 1 when it does not know one of the paths. */
function runDpkg(paths: readonly string[]): { stdout: string } {
  try {
    return {
      stdout: execFileSync('dpkg-query', ['-S', ...paths], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    };
  } catch (error) {
    return error as { stdout: string };
  }
}
