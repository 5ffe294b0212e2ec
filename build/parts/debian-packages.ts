/**
 * Debian packages of any architecture, downloaded from the machine's sources of apt and unpacked. apt verifies their signatures. Its
 * state is in a folder of its own, so the packages and settings of the machine do not change.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Architecture, cacheFolder } from '../architecture.ts';

/** Has a folder for each package, with its files and its folder DEBIAN. */
export const packagesFolder = (architecture: Architecture): string => join(cacheFolder(architecture), 'packages');

/** Fetches the newest versions. A name that this release of Debian does not have is left out. @throws Error with the output of apt */
export function fetchDebianPackages(names: readonly string[], architecture: Architecture): void {
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
    // Its own user cannot write to the folder of another user
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
