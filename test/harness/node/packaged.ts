/** Programs of a node that come with the machine's packages (see ../prerequisites) and are taken as they are. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export type PackagedProgram = 'busybox' | 'containerd' | 'ctr' | 'runc';

/** The path of one. @throws Error that names its package, when there is none */
export function packaged(name: PackagedProgram): string {
  // /usr/sbin is not on the PATH of every user
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // the next one
    }
  }
  throw new Error(`no ${name} here: \`sh test/harness/prerequisites node\` installs it`);
}
