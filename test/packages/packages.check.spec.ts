/** `make pack-check`: the packages of dist/, built twice, installed into empty folders, and run. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { verbTable } from '../../cli/verb-table.ts';
import { version } from '../../lib/process/version.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { startEtcd } from '../harness/etcd.ts';
import { root } from '../harness/paths.ts';
import { type CommandResult, mustRun, runCommand } from '../harness/processes/command.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../harness/services.ts';
import { findSchemaViolations } from '../images/validate-sbom.ts';

const dist = join(root, 'dist');
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
const archiveFolder = `ipledger-${version}-linux-${architecture}`;
const files = {
  npm: join(dist, `ipledger-${version}.tgz`),
  archive: join(dist, `${archiveFolder}.tar.gz`),
  krew: join(dist, 'ipledger.yaml'),
};

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

describe('The packages of the command line', function () {
  this.timeout(600_000);
  let run: Run;
  let allocator: AllocatorServer;
  let unpacked: string;
  let installed: string;
  before(async () => {
    run = openRun();
    allocator = await startAllocator(run, { etcd: await startEtcd(run) });
    unpacked = join(run.folder, archiveFolder);
    const folder = join(run.folder, 'npm');
    mkdirSync(folder);
    const commands = documentedCommands('docs/cli.md', 'packages')
      .replaceAll('0.1.0', version)
      .replace('amd64', architecture)
      .replace('install -g', `install --prefix '${folder}' --offline --no-audit --no-fund`)
      .replace('/opt', `'${run.folder}'`);
    await mustRun('sh', ['-euc', commands], { folder: root });
    installed = join(folder, 'node_modules');
  });
  after(() => run.end());

  /** Returns an environment without Node 24 on PATH and with nothing in the home folder. */
  const environment = (path = '/usr/bin:/bin'): NodeJS.ProcessEnv => ({
    PATH: path,
    HOME: run.folder,
    IPLEDGER_ENDPOINT: allocator.endpoint,
  });
  const start = (program: string, args: readonly string[], path?: string): Promise<CommandResult> =>
    runCommand(program, args, { env: environment(path), signal: run.signal });

  it('The packages of the command line are the same when they are built again', async () => {
    const before = Object.values(files).map(digestOf);
    await mustRun(process.execPath, ['build/packages/packages.ts'], { folder: root, timeoutMs: 600_000 });
    expect(Object.values(files).map(digestOf)).to.deep.equal(before);
  });

  describe('npm', () => {
    const withNode = `${dirname(process.execPath)}:/usr/bin:/bin`;

    it('The npm package of the command line installs a single package', async () => {
      const { stdout } = await start('npm', ['ls', '--all', '--parseable', '--prefix', dirname(installed)]);
      expect(stdout.trim().split('\n').slice(1)).to.deep.equal([join(installed, 'ipledger')]);
    });

    it('The npm package of the command line queries an allocator', async () => {
      expect(await start(join(installed, '.bin/ipledger'), ['--version'], withNode)).to.deep.equal({
        code: 0,
        stdout: `${version}\n`,
        stderr: '',
      });
      const { code, stderr } = await start(join(installed, '.bin/ipledger'), ['status'], withNode);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    });
  });

  describe('the archive', () => {
    it('The archive of the command line queries an allocator with its own Node', async () => {
      const { code, stderr } = await start(join(unpacked, 'bin/ipledger'), ['status']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const node = await start(join(unpacked, 'lib/ipledger/node'), ['--version']);
      expect(node.stdout.trim()).to.equal(process.version);
    });

    it('The archive of the command line is a plugin of kubectl, through a link like that of krew', async () => {
      const folder = join(run.folder, 'krew');
      mkdirSync(folder);
      for (const name of ['kubectl-ipledger', 'kubectl_complete-ipledger'])
        symlinkSync(join(unpacked, 'bin', name), join(folder, name));
      const kubectl = await findProgram('kubectl');
      const result = await start(kubectl, ['ipledger', '--version'], `${folder}:/usr/bin:/bin`);
      expect(result).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
      const words = await start(kubectl, ['__complete', 'ipledger', 'who'], `${folder}:/usr/bin:/bin`);
      expect(words.stdout).to.contain('who-had');
    });

    it('The archive of the command line has completions that the shell accepts', async () => {
      const script = join(unpacked, 'share/bash-completion/completions/ipledger');
      const { code, stdout } = await start('/bin/bash', ['-c', '. "$0"; complete -p ipledger', script]);
      expect(code).to.equal(0);
      expect(stdout).to.contain('ipledger');
      expect(readFileSync(join(unpacked, 'share/zsh/site-functions/_ipledger'), 'utf8')).to.contain(
        '#compdef ipledger',
      );
      const fish = readFileSync(join(unpacked, 'share/fish/vendor_completions.d/ipledger.fish'), 'utf8');
      expect(fish).to.contain('complete -c ipledger');
    });

    it('The archive of the command line has a man page that groff formats without a warning, with each verb', async () => {
      const page = join(unpacked, 'share/man/man1/ipledger.1');
      const { code, stdout, stderr } = await start('groff', ['-man', '-Tascii', '-P-cbou', '-ww', page]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      for (const { usage } of verbTable) expect(stdout).to.contain(`ipledger ${usage.split(' ')[0]}`);
    });

    it('The archive of the command line has a valid SBOM with Node, and the notices', async () => {
      const sbom = readFileSync(join(unpacked, 'sbom.cdx.json'), 'utf8');
      expect(await findSchemaViolations(sbom)).to.equal('');
      expect(sbom).to.contain(`pkg:generic/node@${process.versions.node}`).and.to.contain('pkg:npm/commander@');
      const notices = readFileSync(join(unpacked, 'THIRD-PARTY-NOTICES'), 'utf8');
      expect(notices).to.contain('commander').and.to.contain('OpenSSL');
    });
  });

  describe('the krew manifest', () => {
    it('The krew manifest names the archive with its digest, and an executable in it', () => {
      const manifest = parse(readFileSync(files.krew, 'utf8')) as {
        metadata: { name: string };
        spec: { version: string; platforms: { uri: string; sha256: string; bin: string }[] };
      };
      expect(`${manifest.metadata.name}.yaml`).to.equal('ipledger.yaml');
      expect(manifest.spec.version).to.equal(`v${version}`);
      expect(manifest.spec.platforms).to.have.length(1);
      for (const { uri, sha256, bin } of manifest.spec.platforms) {
        expect(uri.endsWith(`/${archiveFolder}.tar.gz`)).to.equal(true);
        expect(sha256).to.equal(digestOf(files.archive));
        expect(statSync(join(run.folder, bin)).mode & 0o111).to.equal(0o111);
      }
    });
  });
});
