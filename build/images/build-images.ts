/** Builds both images into a folder. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePrograms, type ProgramName, root } from '../bundle/bundle-programs.ts';
import { createLayer, formatOciArchive, type Layer } from '../oci/oci-archive.ts';
import { tarFile, type TarEntry } from '../oci/tar.ts';
import { findExecutable, findLibraries, readDebianParts } from '../parts/debian-parts.ts';
import { readGoParts } from '../parts/go-parts.ts';
import { describeParts } from '../parts/describe-parts.ts';
import { readNodeParts } from '../parts/node-parts.ts';
import { readNpmParts } from '../parts/npm-parts.ts';
import type { Part } from '../parts/part.ts';
import { architecture, type Release } from '../release.ts';
import { baseFiles, bundleFiles, debianFiles, documentFiles, nonRootUid, stripNode } from './root-filesystem.ts';

export const plugin = join(root, '.cache/dist/kube-ovn');

export interface BuildSettings {
  readonly folder: string;
  /** Before the name in the reference, as 'registry.example/net'. */
  readonly prefix: string;
  readonly release: Release;
}

export interface BuiltImage {
  readonly name: string;
  /** The OCI archive. */
  readonly archive: string;
  readonly digest: string;
  readonly unpackedBytes: number;
}

/** What is special to one image. */
interface ImageContents {
  readonly name: 'ipledger' | 'ipledger-node';
  readonly description: string;
  readonly programs: readonly ProgramName[];
  readonly user: string;
  readonly files: readonly TarEntry[];
  readonly parts: readonly Part[];
}

interface Base {
  readonly layer: Layer;
  readonly parts: readonly Part[];
  readonly libraries: ReadonlySet<string>;
}

/** Writes NAME.oci.tar and NAME.cdx.json for each image. @throws Error if a part has a license that the policy rejects */
export async function buildImages(settings: BuildSettings): Promise<BuiltImage[]> {
  mkdirSync(settings.folder, { recursive: true });
  const base = buildBase(settings);
  return [await buildImage(ipledgerContents(), base, settings), await buildImage(nodeContents(base), base, settings)];
}

function buildBase({ folder, release }: BuildSettings): Base {
  const node = stripNode(folder);
  const libraries = findLibraries([node]);
  const parts = [...readNodeParts(), ...readDebianParts(libraries.map(({ path }) => path))];
  const layer = createLayer('Node and its libraries', baseFiles(node, libraries, parts), release.createdAt);
  rmSync(node);
  return { layer, parts, libraries: new Set(libraries.map(({ path }) => path)) };
}

const ipledgerContents = (): ImageContents => ({
  name: 'ipledger',
  description: 'allocator, pod-watcher, ovn-projector, read model and command line of ipledger',
  programs: ['allocator', 'pod-watcher', 'ovn-projector', 'read-model', 'ipledger'],
  user: `${nonRootUid}:${nonRootUid}`,
  files: [{ path: 'usr/local/bin/ipledger', mode: 0o777, content: { link: '/app/ipledger.mjs' } }],
  parts: [],
});

/** The agent enters network namespaces, for which `nsenter` needs root. The chart lists its capabilities. */
function nodeContents(base: Base): ImageContents {
  const executables = ['nsenter', 'ip', 'sh', 'sleep', 'ethtool'].map(findExecutable);
  const tools = executables.map((source) => ({ path: `/usr/bin/${source.split('/').at(-1)}`, source }));
  const libraries = findLibraries(executables).filter(({ path }) => !base.libraries.has(path));
  const parts = readDebianParts([...executables, ...libraries.map(({ path }) => path)]);
  return {
    name: 'ipledger-node',
    description: 'node agent of ipledger and installer of its CNI plugin',
    programs: ['node-agent', 'install-plugin'],
    user: '0:0',
    files: [...debianFiles([...tools, ...libraries], parts), tarFile('app/kube-ovn', readFileSync(plugin), 0o755)],
    parts: [...parts, ...readGoParts(plugin)],
  };
}

async function buildImage(contents: ImageContents, base: Base, settings: BuildSettings): Promise<BuiltImage> {
  const { name, description, programs, user, files } = contents;
  const { folder, prefix, release } = settings;
  const { version, revision, createdAt } = release;
  const bundle = join(folder, `${name}.bundle`);
  rmSync(bundle, { recursive: true, force: true });
  const parts = [...base.parts, ...contents.parts, ...readNpmParts(root, await bundlePrograms(programs, bundle))];
  const { sbom, notices } = describeParts({ name, version, type: 'container', createdAt }, parts);
  const entries = [...makeRunnable(bundleFiles(bundle)), ...documentFiles(sbom, notices), ...files];
  const layers = [base.layer, createLayer(description, entries, createdAt)];
  const { archive, digest } = formatOciArchive({
    reference: `${prefix}/${name}:${version}`,
    architecture,
    createdAt,
    layers,
    config: {
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
    },
  });
  rmSync(bundle, { recursive: true });
  const path = join(folder, `${name}.oci.tar`);
  writeFileSync(path, archive);
  writeFileSync(join(folder, `${name}.cdx.json`), sbom);
  return { name, archive: path, digest, unpackedBytes: layers.reduce((sum, { tar }) => sum + tar.length, 0) };
}

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
