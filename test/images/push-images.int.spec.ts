/** Pushes small images to a real registry, and mirrors them by the commands of docs/install.md. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { renderChart } from '../chart/render-chart.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { type CommandResult, mustRun, runCommand } from '../harness/processes/command.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { startRegistry } from '../harness/registry.ts';
import { openRun, type Run } from '../harness/run.ts';
import { root } from '../../build/bundle/bundle-programs.ts';
import { createLayer, formatOciArchive } from '../../build/oci/oci-archive.ts';
import { tarFile } from '../../lib/tar/format-tar.ts';
import { readRelease } from '../../build/release.ts';

interface Index {
  readonly manifests: readonly { readonly platform: { readonly architecture: string } }[];
}

describe('push-images', function () {
  this.timeout(120_000);
  const { version } = readRelease(process.env);
  let run: Run;
  let folder: string;
  let crane: string;
  let host: string;
  before(async () => {
    run = openRun();
    folder = mkdtempSync(join(tmpdir(), 'ipledger-push-'));
    crane = await findProgram('crane');
    symlinkSync(crane, join(folder, 'crane'));
    host = `127.0.0.1:${await startRegistry(run)}`;
  });
  after(async () => {
    await run.end();
    rmSync(folder, { recursive: true });
  });

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: `${folder}:${process.env['PATH']}`,
    HOME: folder,
    IMAGE_FOLDER: folder,
  });
  /** Writes archives with one small layer, as of `make images`. Returns the index digests. */
  const writeImages = (): string[] =>
    ['ipledger', 'ipledger-node'].map((name) => {
      const images = (['amd64', 'arm64'] as const).map((architecture) => ({
        architecture,
        layers: [createLayer('file', [tarFile('file', `${name} ${architecture}`)], 0)],
        config: {},
      }));
      const { archive, digest } = formatOciArchive({ reference: `localhost/${name}:${version}`, createdAt: 0 }, images);
      writeFileSync(join(folder, `${name}.oci.tar`), archive);
      return digest;
    });
  const push = (registry = `${host}/net`): Promise<CommandResult> =>
    runCommand(process.execPath, [join(root, 'build/images/push-images.ts')], {
      env: { ...environment(), REGISTRY: registry },
    });
  const architecturesOf = async (reference: string): Promise<string[]> => {
    const { manifests } = JSON.parse(await mustRun(crane, ['manifest', reference])) as Index;
    return manifests.map(({ platform }) => platform.architecture);
  };
  const digestOf = async (reference: string): Promise<string> => (await mustRun(crane, ['digest', reference])).trim();

  it('push-images pushes both architectures with the digest of the build, and prints the values for the chart', async () => {
    const digests = writeImages();
    const { code, stdout, stderr } = await push();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const values = join(folder, 'values.yaml');
    writeFileSync(values, stdout);
    const rendered = await renderChart([values]);
    for (const [at, name] of ['ipledger', 'ipledger-node'].entries()) {
      const reference = `${host}/net/${name}:${version}`;
      expect(await digestOf(reference)).to.equal(digests[at]);
      expect(await architecturesOf(reference)).to.deep.equal(['amd64', 'arm64']);
      expect(rendered).to.contain(`image: ${host}/net/${name}@${digests[at]}`);
    }
  });

  it('push-images reports a missing registry, and a registry that does not answer', async () => {
    expect(await push('')).to.deep.include({ code: 2, stdout: '' });
    const { code, stderr } = await push('127.0.0.1:1/net');
    expect(code).to.equal(1);
    expect(stderr).to.contain('push-images:').and.contain('connection refused');
  });

  for (const [file, block] of [
    ['docs/install.md', 'mirror'],
    ['docs/install.md', 'carry'],
  ] as const)
    it(`push-images keeps digests and architectures in a mirror, by the commands of ${file} (${block})`, async () => {
      const source = `${host}/net/ipledger:${version}`;
      await mustRun(crane, ['copy', source, `${host}/coreos/etcd:v3.7.3`], { env: environment() });
      const script = documentedCommands(file, block)
        .replaceAll(/registry\.example|quay\.io/g, host)
        .replaceAll('mirror.example', `${host}/${block}`)
        .replaceAll('0.1.0', version);
      const { code, stderr } = await runCommand('sh', ['-ec', script], { env: environment(), folder });
      expect(code, stderr).to.equal(0);
      const mirrored = `${host}/${block}/net/ipledger:${version}`;
      expect(await digestOf(mirrored)).to.equal(await digestOf(source));
      expect(await architecturesOf(mirrored)).to.deep.equal(['amd64', 'arm64']);
    });
});
