import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pluginNames, type ProgramName } from './program-catalog.ts';
import { searchAll, searchPlugins, searchProgram, type SearchEnvironment } from './find-program.ts';

describe('The search for a program', () => {
  let scratch: string;
  /** The programs of each build. */
  let builds: (readonly ProgramName[])[];
  let logged: string[];

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'ipledger-programs-'));
    builds = [];
    logged = [];
  });
  afterEach(() => rmSync(scratch, { recursive: true }));

  /** Writes a program that only prints its version, into a folder of the scratch folder. */
  function writeProgram(folder: string, name: string, version = '3.7.3'): string {
    mkdirSync(join(scratch, folder), { recursive: true });
    const file = join(scratch, folder, name);
    writeFileSync(file, `#!/bin/sh\necho "${name} Version: ${version}"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  function environment(env: NodeJS.ProcessEnv, inCache: readonly ProgramName[] = []): SearchEnvironment {
    return {
      env,
      log: (line) => logged.push(line),
      isBuilt: (name) => inCache.includes(name),
      build: (names) => {
        builds.push(names);
        return Promise.resolve();
      },
      builtFolder: join(scratch, 'cache'),
    };
  }

  const folder = (name: string): string => join(scratch, name);

  it('The search for a program takes the program in its variable before all others', async () => {
    const named = writeProgram('named', 'my-etcd');
    writeProgram('assets', 'etcd');
    writeProgram('path', 'etcd');
    const env = { ETCD_BIN: named, KUBEBUILDER_ASSETS: folder('assets'), PATH: folder('path') };
    expect(await searchProgram('etcd', environment(env))).to.equal(named);
  });

  it('The search for a program continues with KUBEBUILDER_ASSETS, the folders of PATH in order, and the cache', async () => {
    const assets = writeProgram('assets', 'etcd');
    const first = writeProgram('first', 'etcd');
    writeProgram('second', 'etcd');
    const PATH = `${folder('empty')}:${folder('first')}:${folder('second')}`;
    expect(await searchProgram('etcd', environment({ KUBEBUILDER_ASSETS: folder('assets'), PATH }, ['etcd']))).to.equal(
      assets,
    );
    expect(await searchProgram('etcd', environment({ PATH }, ['etcd']))).to.equal(first);
    expect(await searchProgram('etcd', environment({ PATH: folder('empty') }, ['etcd']))).to.equal(
      join(scratch, 'cache', 'etcd'),
    );
    expect(builds).to.deep.equal([]);
  });

  it('The search for a program builds a program that no folder has', async () => {
    expect(await searchProgram('etcd', environment({ PATH: '' }))).to.equal(join(scratch, 'cache', 'etcd'));
    expect(builds).to.deep.equal([['etcd']]);
  });

  it('The search for a program builds all missing programs together, and no program that the cache has', async () => {
    const found = writeProgram('path', 'kubectl', 'v1.36.0');
    const targets = ['kubectl', 'etcd', 'etcdctl', 'plugins'] as const;
    const paths = await searchAll(targets, environment({ PATH: folder('path') }, ['etcdctl', 'macvlan']));
    expect(builds).to.deep.equal([['etcd', ...pluginNames.filter((name) => name !== 'macvlan')]]);
    expect([...paths]).to.deep.equal([
      ['kubectl', found],
      ['etcd', join(scratch, 'cache', 'etcd')],
      ['etcdctl', join(scratch, 'cache', 'etcdctl')],
      ['plugins', join(scratch, 'cache')],
    ]);
  });

  it('The search for a program skips a version on PATH that is too old, and logs the version', async () => {
    const old = writeProgram('debian', 'etcd', '3.4.23');
    const recent = writeProgram('local', 'etcd', '3.6.0');
    expect(await searchProgram('etcd', environment({ PATH: `${folder('debian')}:${folder('local')}` }))).to.equal(
      recent,
    );
    expect(logged).to.deep.equal([
      `etcd: skipped 3.4 at ${old}: 3.6 or later is needed. This is no error: another etcd is used`,
    ]);
  });

  it('The search for a program skips an API server that is newer than 1.36, the pinned version', async () => {
    writeProgram('next', 'kube-apiserver', 'v1.37.0');
    await searchProgram('kube-apiserver', environment({ PATH: folder('next') }));
    expect(builds).to.deep.equal([['kube-apiserver']]);
  });

  it('The search for a program fails when the program in a variable is too old or missing', async () => {
    const old = writeProgram('debian', 'etcd', '3.4.23');
    const failure = async (named: string): Promise<unknown> =>
      searchProgram('etcd', environment({ ETCD_BIN: named })).catch((error: unknown) => error);
    expect(await failure(old)).to.have.property('message', `ETCD_BIN=${old}: 3.4 at ${old}: 3.6 or later is needed`);
    expect(await failure('/nowhere/etcd'))
      .to.have.property('message')
      .that.contains('no program at /nowhere/etcd');
  });

  it('The search for a program ignores the links that `make up` adds to PATH', async () => {
    writeProgram('.cache/up/bin', 'etcdctl');
    await searchProgram('etcdctl', environment({ PATH: folder('.cache/up/bin') }));
    expect(builds).to.deep.equal([['etcdctl']]);
  });

  it('The search for a program takes all CNI plugins from one folder', async () => {
    for (const name of pluginNames) writeProgram('complete', name);
    writeProgram('incomplete', 'macvlan');
    expect(await searchPlugins(environment({ PATH: `${folder('incomplete')}:${folder('complete')}` }))).to.equal(
      folder('complete'),
    );
    expect(await searchPlugins(environment({ CNI_PLUGINS_DIR: folder('complete'), PATH: '' }))).to.equal(
      folder('complete'),
    );
    const error: unknown = await searchPlugins(environment({ CNI_PLUGINS_DIR: folder('incomplete') })).catch(
      (reason: unknown) => reason,
    );
    const missing = pluginNames.filter((name) => name !== 'macvlan').join(', ');
    expect(error).to.have.property('message').that.contains(`no ${missing} in this folder`);
  });
});
