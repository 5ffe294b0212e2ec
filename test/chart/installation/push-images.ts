/**
 * Pushes the images of `make images` to a registry that the workers reach at loopback, as `make
 * push-images` does.
 */
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { forwardPort } from '../../harness/node/port-forward.ts';
import type { Worker } from '../../harness/node/worker.ts';
import { root } from '../../harness/paths.ts';
import { mustRun } from '../../harness/processes/command.ts';
import { findProgram } from '../../harness/programs/find-program.ts';
import { startRegistry } from '../../harness/registry.ts';
import type { Run } from '../../harness/run.ts';
import { version } from '../../../lib/process/version.ts';

/** An image of the values. */
type ImageName = 'image' | 'nodeImage';
export type PushedImages = Readonly<Record<ImageName, { readonly registry: string; readonly digest: string }>>;

/** Returns the values that the script prints. @param tag another tag that the images get */
export async function pushImages(run: Run, workers: readonly Worker[], tag: string): Promise<PushedImages> {
  const port = await startRegistry(run);
  for (const { machine } of workers) {
    const forward = await forwardPort(machine.network, port);
    run.onEnd(() => forward.close());
  }
  const crane = await findProgram('crane');
  const registry = `127.0.0.1:${port}/net`;
  const env = { PATH: `${dirname(crane)}:${process.env['PATH']}`, HOME: run.folder, REGISTRY: registry };
  const values = await mustRun(process.execPath, [join(root, 'build/images/push-images.ts')], { env });
  for (const name of ['ipledger', 'ipledger-node'])
    await mustRun(crane, ['tag', `${registry}/${name}:${version}`, tag], { env });
  return parse(values) as PushedImages;
}
