/** Images as containers have them: unpacked from their OCI archive, with each digest checked. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Architecture } from '../../build/architecture.ts';
import { mustRun } from '../harness/processes/command.ts';

export interface UnpackedImage {
  readonly architecture: Architecture;
  /** Folder of its root filesystem. */
  readonly root: string;
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

interface Manifest extends Descriptor {
  readonly platform: { readonly architecture: Architecture; readonly os: string };
}

/** An archive of an image. */
export interface ImageArchive {
  /** Digest of the index. */
  readonly digest: string;
  /** An image for each architecture. */
  readonly images: readonly UnpackedImage[];
}

/**
 * Unpacks an archive into a folder.
 * @throws Error if a digest, a size or an architecture is wrong
 */
export async function unpackArchive(archive: string, folder: string): Promise<ImageArchive> {
  const layout = join(folder, 'layout');
  mkdirSync(layout, { recursive: true });
  await mustRun('tar', ['-xf', archive, '-C', layout]);
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as { manifests: Descriptor[] };
  const [reference] = manifests;
  if (!reference) throw new Error(`${archive} has no index`);
  const index = JSON.parse(readBlob(layout, reference).toString()) as { manifests: Manifest[] };
  const images: UnpackedImage[] = [];
  for (const manifest of index.manifests)
    images.push(await unpackImage(layout, manifest, join(folder, manifest.platform.architecture)));
  return { digest: reference.digest, images };
}

async function unpackImage(layout: string, image: Manifest, root: string): Promise<UnpackedImage> {
  mkdirSync(root);
  const manifest = JSON.parse(readBlob(layout, image).toString()) as { config: Descriptor; layers: Descriptor[] };
  const { architecture, os, config, rootfs } = JSON.parse(readBlob(layout, manifest.config).toString()) as {
    architecture: Architecture;
    os: string;
    config: ImageConfig;
    rootfs: { diff_ids: string[] };
  };
  if (architecture !== image.platform.architecture || os !== image.platform.os)
    throw new Error(`the index has ${image.platform.architecture}, and its configuration ${architecture}`);
  let unpackedBytes = 0;
  for (const [at, layer] of manifest.layers.entries()) {
    const tar = gunzipSync(readBlob(layout, layer));
    if (digestOf(tar) !== rootfs.diff_ids[at])
      throw new Error(`${image.digest}: layer ${at} is not the configured one`);
    unpackedBytes += tar.length;
    await mustRun('tar', ['-xpzf', join(layout, 'blobs', layer.digest.replace(':', '/')), '-C', root]);
  }
  return { architecture, root, unpackedBytes, config };
}

function readBlob(layout: string, { digest, size }: Descriptor): Buffer {
  const bytes = readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
  if (digestOf(bytes) !== digest || bytes.length !== size) throw new Error(`${digest} has other content`);
  return bytes;
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/**
 * Options of a command in a container-like process: its own mounts, a read-only root, and, unless
 * `asRoot`, uid 65532.
 */
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

/** Returns the command of a command in the image. No capability is left, except as root. */
export const containedCommand = (
  { root }: UnpackedImage,
  command: readonly string[],
  { asRoot = false }: Contained = {},
): { readonly program: string; readonly args: string[] } => {
  const user = asRoot ? '0:0' : '65532:65532';
  const args = ['--mount', 'sh', '-c', script, 'sh', root, `--userspec=${user}`, '--groups=', root, ...command];
  return { program: 'unshare', args };
};
