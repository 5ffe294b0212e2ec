/**
 * `make pack`: the command line as npm package, as archive with Node, and as plugin of kubectl, in
 * dist/. RELEASE_URL is the folder from which krew downloads the archive, as
 * https://example.org/v0.1.0.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pathToFileURL } from 'node:url';
import project from '../../package.json' with { type: 'json' };
import { bundlePrograms, root } from '../bundle/bundle-programs.ts';
import { ownArchitecture } from '../architecture.ts';
import { stripNode } from '../images/root-filesystem.ts';
import { formatTar, tarFile, type TarEntry } from '../../lib/tar/format-tar.ts';
import { describeParts } from '../parts/describe-parts.ts';
import { readNodeParts } from '../parts/node-parts.ts';
import { readNpmParts } from '../parts/npm-parts.ts';
import type { Part } from '../parts/part.ts';
import { readRelease } from '../release.ts';
import { commandLineFiles } from './command-line-files.ts';
import { formatKrewManifest } from './krew-manifest.ts';

const name = 'ipledger';
const release = readRelease(process.env);
const dist = join(root, 'dist');

mkdirSync(dist, { recursive: true });
mkdirSync(join(root, '.cache'), { recursive: true });
const work = mkdtempSync(join(root, '.cache/pack-'));
try {
  const npmParts = readNpmParts(root, await bundlePrograms(['ipledger'], join(work, 'bundle')));
  const files = await commandLineFiles(join(work, 'bundle'), release);
  packNpm([...files, ...documents(npmParts)]);
  packArchive([...files, ...documents([...readNodeParts(), ...npmParts])]);
} finally {
  rmSync(work, { recursive: true });
}

function documents(parts: readonly Part[]): TarEntry[] {
  const { version, createdAt } = release;
  const { sbom, notices } = describeParts({ name, version, type: 'application', createdAt }, parts);
  return [tarFile('THIRD-PARTY-NOTICES', notices), tarFile('sbom.cdx.json', sbom)];
}

/** The package has no dependencies: the bundle contains them. */
function packNpm(files: readonly TarEntry[]): void {
  const { version, description, license, engines } = project;
  const launchers = files.map(({ path }) => path).filter((path) => path.startsWith('bin/'));
  const manifest = {
    name,
    version,
    description,
    license,
    engines,
    os: ['!win32'],
    type: 'module',
    bin: Object.fromEntries(launchers.map((path) => [path.slice('bin/'.length), path])),
    man: ['share/man/man1/ipledger.1'],
    files: ['bin', 'lib', 'share', 'THIRD-PARTY-NOTICES', 'sbom.cdx.json'],
  };
  const folder = join(work, 'npm');
  for (const { path, mode, content } of [...files, tarFile('package.json', `${JSON.stringify(manifest, null, 2)}\n`)]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (typeof content === 'object' && 'file' in content) writeFileSync(join(folder, path), content.file, { mode });
  }
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dist], { cwd: folder });
  report(join(dist, `${name}-${version}.tgz`));
}

/** Packs the archive, which needs the machine's glibc and libstdc++, as each build of Node does. */
function packArchive(files: readonly TarEntry[]): void {
  const folder = `${name}-${release.version}-linux-${ownArchitecture}`;
  const node = tarFile('lib/ipledger/node', readFileSync(stripNode(ownArchitecture, work)), 0o755);
  const entries = [...files, node].map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }));
  const content = gzipSync(formatTar(entries, release.createdAt));
  const archive = `${folder}.tar.gz`;
  writeFileSync(join(dist, archive), content);
  report(join(dist, archive));

  const base = process.env['RELEASE_URL'] || pathToFileURL(dist).href;
  const executable = `${folder}/bin/kubectl-ipledger`;
  const krew = {
    os: 'linux',
    architecture: ownArchitecture,
    url: `${base.replace(/\/$/, '')}/${archive}`,
    content,
    executable,
  };
  writeFileSync(join(dist, `${name}.yaml`), formatKrewManifest(name, release.version, [krew]));
  report(join(dist, `${name}.yaml`));
}

function report(path: string): void {
  console.log(`${path}  ${(readFileSync(path).length / 1e6).toFixed(1)} MB`);
}
