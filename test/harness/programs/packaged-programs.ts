/** Finds the programs that Debian packages provide (see ../prerequisites). */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The package group of each program. */
const packages = { busybox: 'node', containerd: 'node', ctr: 'node', runc: 'node', chromium: 'browser' } as const;

export type PackagedProgram = keyof typeof packages;

/** Returns the path of a program. @throws Error with the command that installs it */
export function packagedProgram(name: PackagedProgram): string {
  // PATH lacks /usr/sbin for some users
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // try the next folder
    }
  }
  throw new Error(`${name} is not installed: run \`sh test/harness/prerequisites ${packages[name]}\``);
}
