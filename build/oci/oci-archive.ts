/** An image for several architectures as an archive in the OCI image layout. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Architecture } from '../architecture.ts';
import { formatTar, type TarEntry } from '../../lib/tar/format-tar.ts';

/** The image of one architecture. */
export interface Image {
  readonly architecture: Architecture;
  /** The `config` object of the image configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly layers: readonly Layer[];
}

/** A layer as tar archive, and its compressed form. Images may share a layer. */
export interface Layer {
  readonly comment: string;
  readonly tar: Buffer;
  readonly compressed: Buffer;
}

/** Builds a layer. zlib writes no time and no name, so the result is reproducible. */
export function createLayer(comment: string, entries: readonly TarEntry[], createdAt: number): Layer {
  const tar = formatTar(entries, createdAt);
  return { comment, tar, compressed: gzipSync(tar) };
}

const digest = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** The name of an image, which its architectures share. */
export interface ImageName {
  /** The reference, as 'localhost/ipledger:0.1.0'. */
  readonly reference: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

/** Returns an archive with an index of the images, and the digest of the index. */
export function formatOciArchive(
  { reference, createdAt }: ImageName,
  images: readonly Image[],
): { archive: Buffer; digest: string } {
  const blobs = new Map<string, TarEntry>();
  const addBlob = (mediaType: string, bytes: Buffer): Descriptor => {
    const descriptor = { mediaType, digest: digest(bytes), size: bytes.length };
    const path = `blobs/${descriptor.digest.replace(':', '/')}`;
    blobs.set(path, { path, mode: 0o644, content: { file: bytes } });
    return descriptor;
  };
  const addJson: AddJson = (mediaType, value) => addBlob(mediaType, Buffer.from(JSON.stringify(value)));

  const created = new Date(createdAt * 1_000).toISOString();
  const manifests = images.map((image) => {
    const layers = image.layers.map(({ compressed }) => addBlob(`${layerType}+gzip`, compressed));
    return addManifest(image, { created, layers }, addJson);
  });
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  const index = addJson(mediaType, { schemaVersion: 2, mediaType, manifests });
  // skopeo and podman read the tag, containerd the whole name
  const annotations = {
    'io.containerd.image.name': reference,
    'org.opencontainers.image.ref.name': reference.slice(reference.lastIndexOf(':') + 1),
  };
  const layout = {
    'index.json': { schemaVersion: 2, manifests: [{ ...index, annotations }] },
    'oci-layout': { imageLayoutVersion: '1.0.0' },
  };
  const entries = Object.entries(layout).map(([path, value]): TarEntry => ({
    path,
    mode: 0o644,
    content: { file: Buffer.from(JSON.stringify(value)) },
  }));
  return { archive: formatTar([...entries, ...blobs.values()], createdAt), digest: index.digest };
}

type AddJson = (mediaType: string, value: object) => Descriptor;

const layerType = 'application/vnd.oci.image.layer.v1.tar';

/** Adds the configuration and the manifest of one architecture. Returns its entry in the index. */
function addManifest(
  { architecture, config, layers }: Image,
  added: { readonly created: string; readonly layers: readonly Descriptor[] },
  addJson: AddJson,
): object {
  const configuration = addJson('application/vnd.oci.image.config.v1+json', {
    created: added.created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ tar }) => digest(tar)) },
    history: layers.map(({ comment }) => ({ created: added.created, created_by: 'make images', comment })),
  });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = { schemaVersion: 2, mediaType, config: configuration, layers: added.layers };
  return { ...addJson(mediaType, manifest), platform: { architecture, os: 'linux' } };
}
