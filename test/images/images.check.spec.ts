/** `make images-check`: the images of dist/, built twice, inspected, and run without an engine. */
import { createHash } from 'node:crypto';
import { copyFileSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Architecture, ownArchitecture } from '../../build/architecture.ts';
import { buildImages } from '../../build/images/build-images.ts';
import { packagesFolder } from '../../build/parts/debian-parts.ts';
import { readGoParts } from '../../build/parts/go-parts.ts';
import { readRelease } from '../../build/release.ts';
import { version } from '../../lib/process/version.ts';
import { startEtcd } from '../harness/etcd.ts';
import { root } from '../harness/paths.ts';
import { type CommandResult, mustRun, runCommand } from '../harness/processes/command.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { startServer } from '../harness/processes/server.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { allocatorLaunch, readModelLaunch } from '../harness/services.ts';
import {
  containedCommand,
  type Contained,
  type ImageArchive,
  unpackArchive,
  type UnpackedImage,
} from './unpacked-image.ts';
import { findSchemaViolations } from './validate-sbom.ts';

const dist = join(root, 'dist');
const maxUnpackedBytes = 130e6;
const node = '/usr/local/bin/node';
const elfMagic = '\x7fELF';
/** The values of the field e_machine in an ELF header. */
const elfMachines: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183 };
/** The executables whose parts are listed as npm, node and go components. */
const ownExecutables = new Set(['usr/local/bin/node', 'app/kube-ovn']);

const emulators: Readonly<Record<Architecture, string>> = { amd64: 'qemu-x86_64-static', arm64: 'qemu-aarch64-static' };

const programs = [
  ['ipledger', 'allocator'],
  ['ipledger', 'pod-watcher'],
  ['ipledger', 'ovn-projector'],
  ['ipledger', 'read-model'],
  ['ipledger', 'console'],
  ['ipledger', 'ipledger'],
  ['ipledger-node', 'node-agent'],
  ['ipledger-node', 'install-plugin'],
] as const;

describe('The images', function () {
  this.timeout(1_200_000);
  let run: Run;
  let archives: Record<'ipledger' | 'ipledger-node', ImageArchive>;
  /** The images that this machine can run. */
  let images: Record<'ipledger' | 'ipledger-node', UnpackedImage>;
  before(async () => {
    run = openRun();
    const unpack = async (name: string) => unpackArchive(join(dist, `${name}.oci.tar`), join(run.folder, name));
    archives = { ipledger: await unpack('ipledger'), 'ipledger-node': await unpack('ipledger-node') };
    images = { ipledger: ownOf(archives.ipledger), 'ipledger-node': ownOf(archives['ipledger-node']) };
  });
  after(() => run.end());

  const runIn = async (
    image: UnpackedImage,
    command: readonly string[],
    { env = {}, ...contained }: Contained & { env?: Record<string, string> } = {},
  ): Promise<CommandResult> => {
    const { program, args } = containedCommand(image, command, contained);
    return runCommand(program, args, { env: { PATH: process.env['PATH'] ?? '', ...env }, signal: run.signal });
  };

  it('The images have the same digests when they are built again', async () => {
    const folder = join(run.folder, 'again');
    const prefix = process.env['IMAGE_PREFIX'] || 'localhost';
    const architectures = archives.ipledger.images.map(({ architecture }) => architecture);
    const again = await buildImages({ folder, prefix, release: readRelease(process.env), architectures });
    expect(again.map(({ name, digest }) => [name, digest])).to.deep.equal(
      Object.entries(archives).map(([name, { digest }]) => [name, digest]),
    );
    for (const { name, archive } of again) {
      expect(readFileSync(archive).equals(readFileSync(join(dist, `${name}.oci.tar`)))).to.equal(true);
      for (const file of architectures.map((architecture) => `${name}-${architecture}.cdx.json`))
        expect(readFileSync(join(folder, file), 'utf8')).to.equal(readFileSync(join(dist, file), 'utf8'));
    }
  });

  it('The images are for amd64 and arm64, and have programs and libraries of their architecture only', () => {
    for (const { images: built } of Object.values(archives)) {
      expect(built.map(({ architecture }) => architecture)).to.deep.equal(['amd64', 'arm64']);
      for (const image of built) {
        const files = elfFiles(image);
        expect(files).to.have.length.greaterThan(6);
        for (const file of files)
          expect(readFileSync(join(image.root, file)).readUInt16LE(18), file).to.equal(elfMachines[image.architecture]);
      }
    }
  });

  it('The images take at most 130 MB', () => {
    for (const { unpackedBytes } of Object.values(archives).flatMap((archive) => archive.images))
      expect(unpackedBytes).to.be.at.most(maxUnpackedBytes);
  });

  it('The images name their user, version and license', () => {
    expect(images.ipledger.config.User).to.equal('65532:65532');
    expect(images['ipledger-node'].config.User).to.equal('0:0');
    for (const { config } of Object.values(images)) {
      expect(config.Entrypoint).to.deep.equal([node]);
      expect(config.Labels).to.include({
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      });
    }
  });

  it('The images have no file with setuid or setgid, and no file that others may write', async () => {
    for (const image of Object.values(archives).flatMap((archive) => archive.images)) {
      const { stdout } = await runCommand('find', [image.root, '-type', 'f', '-perm', '/6022']);
      expect(stdout).to.equal('');
    }
  });

  for (const name of ['ipledger', 'ipledger-node'] as const)
    describe(`${name}: the SBOM`, () => {
      let sbom: string;
      let purls: string[];
      before(() => {
        sbom = readSbom(images[name]);
        purls = purlsOf(sbom);
      });

      it('The SBOM of an image is valid CycloneDX 1.6', async () => {
        expect(await findSchemaViolations(sbom)).to.equal('');
      });

      it('The SBOM of an image lists each npm package whose modules are in the bundle', () => {
        const files = globSync('app/*.mjs', { cwd: images[name].root });
        const texts = files.map((file) => readFileSync(join(images[name].root, file), 'utf8')).join('\n');
        // esbuild names each CommonJS module by its path
        const paths = [...texts.matchAll(/"((?:node_modules\/(?:@[\w.-]+\/)?[\w.-]+\/)+)[^"\s]*\.js"\(/g)];
        const folders = new Set(paths.map(([, path = '']) => packageFolder(path)));
        expect(folders.size).to.be.greaterThan(20);
        for (const folder of folders) {
          const own = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Record<string, string>;
          expect(purls).to.include(`pkg:npm/${own['name']?.replace('@', '%40')}@${own['version']}`);
        }
      });

      it('The SBOM of an image lists the Debian package of each library and program, whose files are unchanged', () => {
        for (const image of archives[name].images) {
          const files = elfFiles(image).filter((file) => !ownExecutables.has(file));
          expect(files).to.have.length.greaterThan(5);
          const packages = packagesByDigest(image.architecture);
          const listed = purlsOf(readSbom(image));
          for (const file of files) {
            const digest = createHash('md5')
              .update(readFileSync(join(image.root, file)))
              .digest('hex');
            const start = `pkg:deb/debian/${encodeURIComponent(packages.get(digest) ?? '')}@`;
            const purl = listed.find((each) => each.startsWith(start));
            expect(purl, `${image.architecture} ${file}`).to.match(new RegExp(`[?]arch=${image.architecture}$`));
          }
        }
      });

      it('The SBOM of an image lists the Go modules of the plugin', () => {
        const plugins = globSync('app/kube-ovn', { cwd: images[name].root });
        expect(plugins).to.have.length(name === 'ipledger-node' ? 1 : 0);
        for (const plugin of plugins)
          for (const { purl } of readGoParts(join(images[name].root, plugin))) expect(purls).to.include(purl);
      });

      it('The SBOM of an image lists Node and its libraries, and each part has a license', async () => {
        const { stdout } = await runIn(images[name], [node, '-p', 'JSON.stringify(process.versions)']);
        const { node: nodeVersion, openssl, v8 } = JSON.parse(stdout) as Record<string, string>;
        expect(purls).to.include.members([
          `pkg:generic/node@${nodeVersion}`,
          `pkg:generic/openssl@${openssl}?in=node`,
          `pkg:generic/v8@${v8}?in=node`,
        ]);
        const { components } = JSON.parse(sbom) as { components: { licenses: unknown[] }[] };
        for (const { licenses } of components) expect(licenses).to.have.length(1);
      });
    });

  describe('of the other architecture, under an emulator', () => {
    const foreign = new Map<string, UnpackedImage>();
    before(async () => {
      for (const [name, archive] of Object.entries(archives))
        for (const image of archive.images.filter(({ architecture }) => architecture !== ownArchitecture)) {
          const emulator = await mustRun('sh', ['-c', `command -v ${emulators[image.architecture]}`]);
          copyFileSync(emulator.trim(), join(image.root, 'emulator'));
          foreign.set(name, image);
        }
    });
    const start = (name: string, command: readonly string[], env = {}): Promise<CommandResult> => {
      const image = foreign.get(name);
      if (!image) throw new Error(`dist/ has ${name} for one architecture only`);
      return runIn(image, ['/emulator', ...command], { env });
    };

    for (const [image, program] of programs)
      it(`${program} prints its version`, async () => {
        const result = await start(image, [node, `/app/${program}.mjs`, '--version']);
        expect(result).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
      });

    it('nsenter, ip, ethtool, sh, sleep and the CNI plugin run', async () => {
      for (const tool of ['nsenter --version', 'ip -V', 'ethtool --version', 'sh -c :', 'sleep 0'])
        expect(await start('ipledger-node', `/usr/bin/${tool}`.split(' ')), tool).to.include({ code: 0 });
      const { stdout } = await start('ipledger-node', ['/app/kube-ovn'], { CNI_COMMAND: 'VERSION' });
      expect(JSON.parse(stdout)).to.have.property('supportedVersions');
    });
  });

  describe('on a read-only root, without capabilities', () => {
    for (const [image, program] of programs)
      it(`${program} prints its help and its version`, async () => {
        const help = await runIn(images[image], [node, `/app/${program}.mjs`, '--help']);
        expect(help).to.include({ code: 0, stderr: '' });
        expect(help.stdout).to.contain(`Usage: ${program} `);
        const printed = await runIn(images[image], [node, `/app/${program}.mjs`, '--version']);
        expect(printed).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
      });

    it('ipledger runs by its name', async () => {
      const result = await runIn(images.ipledger, ['/usr/local/bin/ipledger', '--version']);
      expect(result).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
    });

    it('a process has uid 65532, writes only to /tmp, and cannot become root', async () => {
      const code = `
        const fs = require('node:fs');
        let failure = 'none';
        try { fs.writeFileSync('/app/x', ''); } catch ({ code }) { failure = code; }
        try { fs.writeFileSync('/tmp/x', ''); } catch ({ code }) { failure += code; }
        try { process.setuid(0); } catch ({ code }) { failure += ' ' + code; }
        console.log(process.getuid(), require('node:os').userInfo().username, failure);`;
      const { stdout } = await runIn(images.ipledger, [node, '-e', code]);
      expect(stdout).to.equal('65532 nonroot EROFS EPERM\n');
    });

    it('nsenter, ip, ethtool, sh, sleep and the CNI plugin run', async () => {
      const image = images['ipledger-node'];
      expect((await runIn(image, ['/usr/bin/sh', '-c', 'cd / && echo started'])).stdout).to.equal('started\n');
      expect((await runIn(image, ['/usr/bin/nsenter', '--version'])).stdout).to.match(/^nsenter from util-linux/);
      expect((await runIn(image, ['/usr/bin/ethtool', '--version'])).stdout).to.match(/^ethtool version/);
      expect((await runIn(image, ['/usr/bin/sleep', '0'])).stdout).to.equal('');
      expect((await runIn(image, ['/usr/bin/ip', '-json', 'link', 'show', 'lo'])).stdout).to.contain('"ifname":"lo"');
      const { stdout } = await runIn(image, ['/app/kube-ovn'], { env: { CNI_COMMAND: 'VERSION' } });
      expect(JSON.parse(stdout)).to.have.property('supportedVersions');
    });

    it('install-plugin copies the plugin', async () => {
      // /tmp belongs to this process alone: it installs, then runs the copy
      const code = `
        const { execFileSync } = require('node:child_process');
        execFileSync(process.execPath, ['/app/install-plugin.mjs', '/tmp'], { stdio: 'pipe' });
        process.stdout.write(execFileSync('/tmp/kube-ovn', { env: { CNI_COMMAND: 'VERSION' } }));`;
      const { stdout, stderr } = await runIn(images['ipledger-node'], [node, '-e', code], { asRoot: true });
      expect(stderr).to.equal('');
      expect(JSON.parse(stdout)).to.have.property('supportedVersions');
    });

    it('allocator and read model serve the ledger in etcd, their reflection and the command line', async () => {
      const etcd = await startEtcd(run);
      const [endpoint, readModel] = [`127.0.0.1:${await findFreePort()}`, `127.0.0.1:${await findFreePort()}`];
      const image = images.ipledger;
      const allocator = allocatorLaunch({ name: 'allocator', etcd: [etcd.endpoint], listen: endpoint });
      await startServer(run, { ...allocator, ...containedCommand(image, [node, '/app/allocator.mjs']) });
      const follower = readModelLaunch({
        name: 'read-model',
        allocator: endpoint,
        listen: readModel,
        file: '/tmp/read-model.sqlite',
      });
      await startServer(run, { ...follower, ...containedCommand(image, [node, '/app/read-model.mjs']) });

      for (const server of [endpoint, readModel]) {
        const list = await runCommand(await findProgram('grpcurl'), ['-plaintext', server, 'list']);
        expect(list.stdout).to.contain('ipledger.v1.Ledger').and.to.contain('grpc.health.v1.Health');
      }
      const env = { PATH: process.env['PATH'], IPLEDGER_ENDPOINT: endpoint, IPLEDGER_READ_MODEL: readModel };
      const { program, args } = containedCommand(image, ['/usr/local/bin/ipledger', 'history', 'all', '-o', 'json']);
      const history = await runCommand(program, args, { env });
      expect(history.stderr).to.equal('');
      expect(JSON.parse(history.stdout)).to.be.an('object');
      const verify = containedCommand(image, ['/usr/local/bin/ipledger', 'verify']);
      const verified = await runCommand(verify.program, verify.args, { env: { ...env, IPLEDGER_ETCD: etcd.endpoint } });
      expect(verified.code, verified.stderr).to.equal(0);
    });
  });
});

/** Returns the folder of the innermost package of a path, without the last slash. */
const packageFolder = (path: string): string => {
  const at = path.lastIndexOf('node_modules/');
  const [name = ''] = /^node_modules\/(?:@[\w.-]+\/)?[\w.-]+/.exec(path.slice(at)) ?? [];
  return path.slice(0, at) + name;
};

/** Finds the ELF files of an image, relative to its root. */
const elfFiles = ({ root: folder }: UnpackedImage): string[] =>
  globSync('**', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).toString('latin1', 0, elfMagic.length) === elfMagic)
    .map((file) => file.slice(folder.length + 1));

function ownOf({ images }: ImageArchive): UnpackedImage {
  const own = images.find(({ architecture }) => architecture === ownArchitecture);
  if (!own) throw new Error(`dist/ has no image for ${ownArchitecture}: build it with ARCHITECTURES`);
  return own;
}

const readSbom = ({ root: folder }: UnpackedImage): string =>
  readFileSync(join(folder, 'usr/share/doc/ipledger/sbom.cdx.json'), 'utf8');

const purlsOf = (sbom: string): string[] =>
  (JSON.parse(sbom) as { components: { purl: string }[] }).components.map(({ purl }) => purl);

/** Reads the package of each file, by the digests that Debian's packages list. */
function packagesByDigest(architecture: Architecture): Map<string, string> {
  const folder = packagesFolder(architecture);
  const lists = globSync('*/DEBIAN/md5sums', { cwd: folder });
  return new Map(
    lists.flatMap((list) =>
      [...readFileSync(join(folder, list), 'utf8').matchAll(/^([0-9a-f]{32}) {2}/gm)].map(
        ([, digest = '']): [string, string] => [digest, list.split('/')[0] ?? ''],
      ),
    ),
  );
}
