/** The one image that Pods and their sandboxes run: busybox, and nothing else. Made here; nothing is pulled. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../command.ts';
import { packaged } from './packaged.ts';

export const boxImage = 'ipledger.test/box:1';

/** Waits, and ends at once when it is asked to, as process 1 must say explicitly. */
const command = ['/bin/busybox', 'sh', '-c', 'trap exit TERM; sleep 2147483647 & wait'];
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Writes an archive of it in the form of the OCI image layout, in a folder of its own; gives its path. */
export async function makeImage(folder: string): Promise<string> {
  const [layout, root] = [join(folder, 'layout'), join(folder, 'root')];
  mkdirSync(join(root, 'bin'), { recursive: true });
  cpSync(packaged('busybox'), join(root, 'bin', 'busybox'));
  const layer = await archive(root, join(folder, 'layer.tar'));

  mkdirSync(join(layout, 'blobs', 'sha256'), { recursive: true });
  const put = (kind: string, content: Buffer | object): Descriptor => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
    const digest = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(layout, 'blobs', 'sha256', digest), bytes);
    return { mediaType: `application/vnd.oci.image.${kind}`, digest: `sha256:${digest}`, size: bytes.length };
  };
  const content = put('layer.v1.tar', readFileSync(layer));
  const config = put('config.v1+json', {
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    config: { Cmd: command },
    rootfs: { type: 'layers', diff_ids: [content.digest] },
  });
  const manifest = put('manifest.v1+json', { schemaVersion: 2, config, layers: [content] });
  const annotations = { 'io.containerd.image.name': boxImage };
  writeFileSync(
    join(layout, 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
  );
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  return archive(layout, join(folder, 'image.tar'));
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

async function archive(folder: string, file: string): Promise<string> {
  await mustRun('tar', ['--create', '--file', file, '--directory', folder, '--owner=0', '--group=0', '.']);
  return file;
}
