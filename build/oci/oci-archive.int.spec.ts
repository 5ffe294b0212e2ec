import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createLayer, formatOciArchive, type Image } from './oci-archive.ts';

const createdAt = 1_700_000_000;
const layer = () =>
  createLayer('base', [{ path: 'etc/passwd', mode: 0o644, content: { file: Buffer.from('root') } }], createdAt);
const name = { reference: 'localhost:5000/ipledger:0.1.0', createdAt };
const images = (): Image[] =>
  (['amd64', 'arm64'] as const).map((architecture) => ({
    architecture,
    config: { User: '65532' },
    layers: [layer()],
  }));

interface Described {
  readonly digest: string;
  readonly size: number;
}

describe('formatOciArchive', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'ipledger-oci-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const readBlob = async ({ digest, size }: Described): Promise<Buffer> => {
    const bytes = await readFile(join(folder, 'blobs', digest.replace(':', '/')));
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).to.equal(digest);
    expect(bytes.length).to.equal(size);
    return bytes;
  };

  it('formatOciArchive has an index, and for each architecture a manifest, a configuration and layers, with their digests', async () => {
    const { archive, digest } = formatOciArchive(name, images());
    execFileSync('tar', ['-xf', '-', '-C', folder], { input: archive });
    const layout = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as { manifests: Described[] };
    const [reference] = layout.manifests;
    expect(layout.manifests).to.have.length(1);
    expect(reference)
      .to.include({ digest })
      .and.to.have.nested.property('annotations.org\\.opencontainers\\.image\\.ref\\.name', '0.1.0');
    const index = JSON.parse((await readBlob(reference as Described)).toString()) as {
      manifests: (Described & { platform: object })[];
    };
    const platforms = ['amd64', 'arm64'].map((architecture) => ({ architecture, os: 'linux' }));
    expect(index.manifests.map(({ platform }) => platform)).to.deep.equal(platforms);
    for (const [at, described] of index.manifests.entries()) {
      const manifest = JSON.parse((await readBlob(described)).toString()) as { config: Described; layers: Described[] };
      const config = JSON.parse((await readBlob(manifest.config)).toString()) as { rootfs: { diff_ids: string[] } };
      expect(config).to.include(platforms[at]);
      expect(config).to.have.nested.property('config.User', '65532');
      const tar = gunzipSync(await readBlob(manifest.layers[0] as Described));
      expect(config.rootfs.diff_ids).to.deep.equal([`sha256:${createHash('sha256').update(tar).digest('hex')}`]);
    }
  });

  it('formatOciArchive returns the same bytes for the same files', () => {
    expect(formatOciArchive(name, images()).archive.equals(formatOciArchive(name, images()).archive)).to.equal(true);
  });
});
