/** An image as an archive in the OCI image layout (https://github.com/opencontainers/image-spec, image-layout.md). */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { formatTar, type TarEntry } from './tar.ts';

export interface Image {
  /** The reference, as 'localhost/ipledger:0.1.0'. */
  readonly reference: string;
  /** 'amd64' or 'arm64'. */
  readonly architecture: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** The `config` object of the image configuration. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly layers: readonly Layer[];
}

/** A layer as tar archive, and its compressed form. Two images may share one. */
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

/** Returns the archive, and the digest of the manifest: the name of the image in registries. */
export function formatOciArchive(image: Image): { archive: Buffer; digest: string } {
  const { reference, architecture, createdAt, config, layers } = image;
  const blobs: TarEntry[] = [];
  const addBlob = (mediaType: string, bytes: Buffer): Descriptor => {
    const descriptor = { mediaType, digest: digest(bytes), size: bytes.length };
    blobs.push({ path: `blobs/${descriptor.digest.replace(':', '/')}`, mode: 0o644, content: { file: bytes } });
    return descriptor;
  };
  const addJson = (mediaType: string, value: object): Descriptor =>
    addBlob(mediaType, Buffer.from(JSON.stringify(value)));

  const created = new Date(createdAt * 1_000).toISOString();
  const configDescriptor = addJson('application/vnd.oci.image.config.v1+json', {
    created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ tar }) => digest(tar)) },
    history: layers.map(({ comment }) => ({ created, created_by: 'make images', comment })),
  });
  const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip';
  const manifest = addJson('application/vnd.oci.image.manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: configDescriptor,
    layers: layers.map(({ compressed }) => addBlob(layerType, compressed)),
  });
  // skopeo and podman read the tag, containerd the whole name
  const annotations = {
    'io.containerd.image.name': reference,
    'org.opencontainers.image.ref.name': reference.slice(reference.lastIndexOf(':') + 1),
  };
  const index = {
    schemaVersion: 2,
    manifests: [{ ...manifest, annotations, platform: { architecture, os: 'linux' } }],
  };
  const files = { 'index.json': index, 'oci-layout': { imageLayoutVersion: '1.0.0' } };
  const entries = Object.entries(files).map(([path, value]): TarEntry => ({
    path,
    mode: 0o644,
    content: { file: Buffer.from(JSON.stringify(value)) },
  }));
  return { archive: formatTar([...entries, ...blobs], createdAt), digest: manifest.digest };
}
