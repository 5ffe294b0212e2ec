/**
 * `make push-images`: pushes the images of dist/ to REGISTRY, and prints the values of the chart. Each architecture has a tag, as
 * 0.1.0-arm64. The tag of the version is an index of all architectures that this revision was pushed for.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../bundle/bundle-programs.ts';
import { readRelease } from '../release.ts';

const architectures = ['amd64', 'arm64'];
const revisionLabel = 'org.opencontainers.image.revision';
const { version, revision } = readRelease(process.env);
const registry = (process.env['REGISTRY'] ?? '').replace(/\/$/, '');
const folder = process.env['IMAGE_FOLDER'] || join(root, 'dist');

/** crane reads the credentials of ~/.docker/config.json, and the helpers that it names. */
const crane = (...args: string[]): string =>
  execFileSync('crane', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** Pushes an archive. Returns the digest of the index. */
function push(name: string): string {
  const layout = mkdtempSync(join(tmpdir(), 'ipledger-image-'));
  try {
    execFileSync('tar', ['-xf', join(folder, `${name}.oci.tar`), '-C', layout]);
    const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
      manifests: { platform: { architecture: string } }[];
    };
    const [own = ''] = manifests.map(({ platform }) => platform.architecture);
    const repository = `${registry}/${name}`;
    const tagOf = (architecture: string): string => `${repository}:${version}-${architecture}`;
    crane('push', layout, tagOf(own));
    const pushed = new Set(crane('ls', repository).split('\n'));
    const tags = architectures
      .filter((each) => each === own || pushed.has(`${version}-${each}`))
      .map(tagOf)
      .filter((tag) => tag === tagOf(own) || revisionOf(tag) === revision);
    crane('index', 'append', ...tags.flatMap((tag) => ['--manifest', tag]), '--tag', `${repository}:${version}`);
    const digest = crane('digest', `${repository}:${version}`);
    console.log(`# ${repository}:${version}: ${tags.map((tag) => tag.slice(tag.lastIndexOf('-') + 1)).join(', ')}`);
    return digest;
  } finally {
    rmSync(layout, { recursive: true });
  }
}

/** An image of another revision is not of this version's index, although its tag is. */
function revisionOf(tag: string): string {
  const { config } = JSON.parse(crane('config', tag)) as { config: { Labels?: Record<string, string> } };
  return config.Labels?.[revisionLabel] ?? '';
}

if (registry === '') {
  console.error('push-images: no registry: set REGISTRY, for example REGISTRY=registry.example/net');
  process.exitCode = 2;
} else {
  try {
    for (const [value, name] of [
      ['image', 'ipledger'],
      ['nodeImage', 'ipledger-node'],
    ] as const)
      console.log(`${value}: { registry: '${registry}', digest: '${push(name)}' }`);
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    console.error(`push-images: ${(stderr || String(error)).trim()}`);
    process.exitCode = 1;
  }
}
