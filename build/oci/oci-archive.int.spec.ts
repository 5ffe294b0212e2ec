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
const image = (): Image => ({
  reference: 'localhost:5000/ipledger:0.1.0',
  architecture: 'amd64',
  createdAt,
  config: { User: '65532' },
  layers: [layer()],
});

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

  it('has an index, a manifest, a configuration and layers with their digests', async () => {
    const { archive, digest } = formatOciArchive(image());
    execFileSync('tar', ['-xf', '-', '-C', folder], { input: archive });
    const index = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as { manifests: Described[] };
    const [reference] = index.manifests;
    expect(reference)
      .to.include({ digest })
      .and.to.have.nested.property('annotations.org\\.opencontainers\\.image\\.ref\\.name', '0.1.0');
    const manifest = JSON.parse((await readBlob(reference as Described)).toString()) as {
      config: Described;
      layers: Described[];
    };
    const config = JSON.parse((await readBlob(manifest.config)).toString()) as { rootfs: { diff_ids: string[] } };
    expect(config).to.have.nested.property('config.User', '65532');
    const tar = gunzipSync(await readBlob(manifest.layers[0] as Described));
    expect(config.rootfs.diff_ids).to.deep.equal([`sha256:${createHash('sha256').update(tar).digest('hex')}`]);
  });

  it('returns the same bytes for the same files', () => {
    expect(formatOciArchive(image()).archive.equals(formatOciArchive(image()).archive)).to.equal(true);
  });
});
