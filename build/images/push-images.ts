/** `make push-images`: pushes the images of dist/ to REGISTRY, and prints the chart values. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../bundle/bundle-programs.ts';
import { readRelease } from '../release.ts';

const { version } = readRelease(process.env);
const registry = (process.env['REGISTRY'] ?? '').replace(/\/$/, '');
const folder = process.env['IMAGE_FOLDER'] || join(root, 'dist');

/** Pushes an archive with the credentials of ~/.docker/config.json. Returns the index's digest. */
function push(name: string): string {
  const layout = mkdtempSync(join(tmpdir(), 'ipledger-image-'));
  try {
    execFileSync('tar', ['-xf', join(folder, `${name}.oci.tar`), '-C', layout]);
    const args = ['push', layout, `${registry}/${name}:${version}`];
    const pushed = execFileSync('crane', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
    return pushed.slice(pushed.indexOf('@') + 1);
  } finally {
    rmSync(layout, { recursive: true });
  }
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
