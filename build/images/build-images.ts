/** Builds both images into a folder. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Architecture } from '../architecture.ts';
import { bundleConsoleFiles } from '../bundle/bundle-console.ts';
import { bundlePrograms, type ProgramName, root } from '../bundle/bundle-programs.ts';
import { createLayer, formatOciArchive, type Image, type Layer } from '../oci/oci-archive.ts';
import { tarFile, type TarEntry } from '../../lib/tar/format-tar.ts';
import { findExecutable, findLibraries, readDebianParts } from '../parts/debian-parts.ts';
import { readGoParts } from '../parts/go-parts.ts';
import { describeParts } from '../parts/describe-parts.ts';
import { readNodeParts } from '../parts/node-parts.ts';
import { readNpmParts } from '../parts/npm-parts.ts';
import type { Part } from '../parts/part.ts';
import type { Release } from '../release.ts';
import { baseFiles, bundleFiles, debianFiles, documentFiles, nonRootUid, stripNode } from './root-filesystem.ts';

/** The CNI plugin for an architecture. */
const pluginFile = (architecture: Architecture): string => join(root, '.cache/dist', architecture, 'kube-ovn');

export interface BuildSettings {
  readonly folder: string;
  /** The prefix of the name in the reference, as 'registry.example/net'. */
  readonly prefix: string;
  readonly release: Release;
  readonly architectures: readonly Architecture[];
}

export interface BuiltImage {
  readonly name: string;
  /** The OCI archive, which has all architectures. */
  readonly archive: string;
  /** The digest of the index. */
  readonly digest: string;
  readonly unpackedBytes: Readonly<Record<string, number>>;
}

/** The contents in which the images differ. */
interface ImageContents {
  readonly name: 'ipledger' | 'ipledger-node';
  readonly description: string;
  readonly programs: readonly ProgramName[];
  readonly user: string;
  /** The files and parts beside the base and the programs. */
  extras(base: Base): { readonly files: readonly TarEntry[]; readonly parts: readonly Part[] };
}

interface Base {
  readonly architecture: Architecture;
  readonly layer: Layer;
  readonly parts: readonly Part[];
  readonly libraries: ReadonlySet<string>;
}

/**
 * Writes NAME.oci.tar for each image, and NAME-ARCHITECTURE.cdx.json. Packages of Debian, and Node
 * for other architectures, must be fetched before.
 * @throws Error if a part has a license that the policy rejects
 */
export async function buildImages(settings: BuildSettings): Promise<BuiltImage[]> {
  mkdirSync(settings.folder, { recursive: true });
  const bases = settings.architectures.map((architecture) => buildBase(architecture, settings));
  return [await buildImage(ipledgerImage, bases, settings), await buildImage(nodeImage, bases, settings)];
}

function buildBase(architecture: Architecture, { folder, release }: BuildSettings): Base {
  const node = stripNode(architecture, folder);
  const libraries = findLibraries([node], architecture);
  const parts = [...readNodeParts(), ...readDebianParts(libraries, architecture)];
  const layer = createLayer('Node and its libraries', baseFiles(node, libraries, parts), release.createdAt);
  rmSync(node);
  return { architecture, layer, parts, libraries: new Set(libraries.map(({ path }) => path)) };
}

const ipledgerImage: ImageContents = {
  name: 'ipledger',
  description: 'allocator, pod-watcher, ovn-projector, read model, console and command line of ipledger',
  programs: ['allocator', 'pod-watcher', 'ovn-projector', 'read-model', 'console', 'ipledger'],
  user: `${nonRootUid}:${nonRootUid}`,
  extras: () => ({
    files: [{ path: 'usr/local/bin/ipledger', mode: 0o777, content: { link: '/app/ipledger.mjs' } }],
    parts: [],
  }),
};

/** The agent enters network namespaces, for which `nsenter` needs root and capabilities. */
const nodeImage: ImageContents = {
  name: 'ipledger-node',
  description: 'node agent of ipledger and installer of its CNI plugin',
  programs: ['node-agent', 'install-plugin'],
  user: '0:0',
  extras({ architecture, libraries: present }) {
    const tools = ['nsenter', 'ip', 'sh', 'sleep', 'ethtool'].map((name) => findExecutable(name, architecture));
    const libraries = findLibraries(
      tools.map(({ source }) => source),
      architecture,
    ).filter(({ path }) => !present.has(path));
    const parts = readDebianParts([...tools, ...libraries], architecture);
    const plugin = pluginFile(architecture);
    return {
      files: [...debianFiles([...tools, ...libraries], parts), tarFile('app/kube-ovn', readFileSync(plugin), 0o755)],
      parts: [...parts, ...readGoParts(plugin)],
    };
  },
};

async function buildImage(
  contents: ImageContents,
  bases: readonly Base[],
  settings: BuildSettings,
): Promise<BuiltImage> {
  const { name, programs } = contents;
  const { folder, prefix, release } = settings;
  const bundle = join(folder, `${name}.bundle`);
  rmSync(bundle, { recursive: true, force: true });
  const packages = await bundlePrograms(programs, bundle);
  if (programs.includes('console')) packages.push(...(await bundleConsoleFiles(bundle)));
  const npmParts = readNpmParts(root, [...new Set(packages)].sort());
  const images = bases.map((base): Image => {
    const { files, parts } = contents.extras(base);
    const product = { ...release, name, type: 'container' } as const;
    const { sbom, notices } = describeParts(product, [...base.parts, ...parts, ...npmParts]);
    writeFileSync(join(folder, `${name}-${base.architecture}.cdx.json`), sbom);
    const entries = [...makeRunnable(bundleFiles(bundle)), ...documentFiles(sbom, notices), ...files];
    const layers = [base.layer, createLayer(contents.description, entries, release.createdAt)];
    return { architecture: base.architecture, layers, config: imageConfig(contents, release) };
  });
  rmSync(bundle, { recursive: true });
  const reference = `${prefix}/${name}:${release.version}`;
  const { archive, digest } = formatOciArchive({ reference, createdAt: release.createdAt }, images);
  const path = join(folder, `${name}.oci.tar`);
  writeFileSync(path, archive);
  const sizeOf = (layers: readonly Layer[]): number => layers.reduce((sum, { tar }) => sum + tar.length, 0);
  const unpackedBytes = Object.fromEntries(images.map(({ architecture, layers }) => [architecture, sizeOf(layers)]));
  return { name, archive: path, digest, unpackedBytes };
}

const imageConfig = (
  { name, description, user }: ImageContents,
  { version, revision, createdAt }: Release,
): Image['config'] => ({
  User: user,
  Env: ['PATH=/usr/local/bin:/usr/bin', 'NODE_ENV=production'],
  Entrypoint: ['/usr/local/bin/node'],
  WorkingDir: '/',
  Labels: {
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.created': new Date(createdAt * 1_000).toISOString(),
    ...(revision !== '' && { 'org.opencontainers.image.revision': revision }),
  },
});

/** `kubectl exec POD -- ipledger VERB` runs the file through a link in /usr/local/bin. */
const makeRunnable = (files: readonly TarEntry[]): TarEntry[] =>
  files.map((entry) => {
    const { path, content } = entry;
    if (path !== 'app/ipledger.mjs' || content === 'folder' || !('file' in content)) return entry;
    return {
      path,
      mode: 0o755,
      content: { file: Buffer.concat([Buffer.from('#!/usr/local/bin/node\n'), content.file]) },
    };
  });
