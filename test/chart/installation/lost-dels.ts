/** Loses the CNI DELs of a worker. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pluginFolder } from '../../harness/node/containerd.ts';
import type { Worker } from '../../harness/node/worker.ts';

/**
 * Makes DELs succeed without the plugins of the networks until the returned function is called, as
 * the shim of a thick Multus does while its daemon is down. Another Multus is replaced by a program
 * that does the same.
 */
export async function loseDels({ machine, multus, multusDaemon: daemon }: Worker): Promise<() => Promise<void>> {
  if (daemon) {
    await daemon.kill();
    return () => daemon.start();
  }
  const plugin = machine.path(join(pluginFolder, multus.type));
  renameSync(plugin, `${plugin}.kept`);
  writeFileSync(plugin, '#!/bin/sh\n', { mode: 0o755 });
  return async () => renameSync(`${plugin}.kept`, plugin);
}
