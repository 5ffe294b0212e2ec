/** Builds the image of Pods and sandboxes, which contains only busybox. No image is pulled. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../processes/command.ts';
import { packagedProgram } from '../programs/packaged-programs.ts';

export const podImage = 'ipledger.test/box:1';

/** The command of Pods: waits until SIGTERM. Process 1 needs an explicit trap. */
const command = ['/bin/busybox', 'sh', '-c', 'trap exit TERM; sleep 2147483647 & wait'];
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Writes an archive in the OCI image layout to a folder. Returns the path of the archive. */
export async function buildPodImage(folder: string): Promise<string> {
  const [layout, root] = [join(folder, 'layout'), join(folder, 'root')];
  mkdirSync(join(root, 'bin'), { recursive: true });
  cpSync(packagedProgram('busybox'), join(root, 'bin', 'busybox'));
  // The programs of Pods that have a command of their own
  for (const name of ['sh', 'ash', 'sleep', 'top']) symlinkSync('busybox', join(root, 'bin', name));
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
  const annotations = { 'io.containerd.image.name': podImage };
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
