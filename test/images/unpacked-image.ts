/** An image as a container sees it: unpacked from its OCI archive, with each digest checked. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { mustRun } from '../harness/processes/command.ts';

export interface UnpackedImage {
  /** Folder of its root filesystem. */
  readonly root: string;
  /** Digest of the manifest. */
  readonly digest: string;
  /** Bytes of all layers as tar archives. */
  readonly unpackedBytes: number;
  readonly config: ImageConfig;
}

export interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** Unpacks an archive into a folder. @throws Error if a digest or a size is wrong */
export async function unpackImage(archive: string, folder: string): Promise<UnpackedImage> {
  const [layout, root] = [join(folder, 'layout'), join(folder, 'root')];
  for (const path of [layout, root]) mkdirSync(path, { recursive: true });
  await mustRun('tar', ['-xf', archive, '-C', layout]);
  const readBlob = ({ digest, size }: Descriptor): Buffer => {
    const bytes = readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
    if (digestOf(bytes) !== digest || bytes.length !== size) throw new Error(`${archive}: ${digest} has other content`);
    return bytes;
  };
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as { manifests: Descriptor[] };
  const [reference] = index.manifests;
  if (!reference) throw new Error(`${archive} has no manifest`);
  const manifest = JSON.parse(readBlob(reference).toString()) as { config: Descriptor; layers: Descriptor[] };
  const { config, rootfs } = JSON.parse(readBlob(manifest.config).toString()) as {
    config: ImageConfig;
    rootfs: { diff_ids: string[] };
  };
  let unpackedBytes = 0;
  for (const [at, layer] of manifest.layers.entries()) {
    const tar = gunzipSync(readBlob(layer));
    if (digestOf(tar) !== rootfs.diff_ids[at]) throw new Error(`${archive}: layer ${at} is not the configured one`);
    unpackedBytes += tar.length;
    await mustRun('tar', ['-xpzf', join(layout, 'blobs', layer.digest.replace(':', '/')), '-C', root]);
  }
  return { root, digest: reference.digest, unpackedBytes, config };
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** A command in a container-like process: its own mounts, a read-only root, and, unless `asRoot`, uid 65532. */
export interface Contained {
  readonly asRoot?: boolean;
}

const script = `
set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro "$1"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
shift
exec setpriv --no-new-privs chroot "$@"`;

/** Program and arguments that run a command in the image. No capability is left, except as root. */
export const containedCommand = (
  { root }: UnpackedImage,
  command: readonly string[],
  { asRoot = false }: Contained = {},
): { readonly program: string; readonly args: string[] } => {
  const user = asRoot ? '0:0' : '65532:65532';
  const args = ['--mount', 'sh', '-c', script, 'sh', root, `--userspec=${user}`, '--groups=', root, ...command];
  return { program: 'unshare', args };
};
