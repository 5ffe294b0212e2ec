import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pluginNames, type ProgramName } from './catalogue.ts';
import { locatePlugins, locateProgram, type Surroundings } from './programs.ts';

describe('the search for a real program', () => {
  let scratch: string;
  let built: ProgramName[];
  let said: string[];

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'ipledger-programs-'));
    built = [];
    said = [];
  });
  afterEach(() => rmSync(scratch, { recursive: true }));

  /** A program that only tells its version, in a folder of the scratch folder. */
  function fake(folder: string, name: string, version = '3.7.3'): string {
    mkdirSync(join(scratch, folder), { recursive: true });
    const file = join(scratch, folder, name);
    writeFileSync(file, `#!/bin/sh\necho "${name} Version: ${version}"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  function around(env: NodeJS.ProcessEnv, inCache: readonly ProgramName[] = []): Surroundings {
    return {
      env,
      say: (line) => said.push(line),
      isBuilt: (name) => inCache.includes(name),
      build: (name) => {
        built.push(name);
        return Promise.resolve();
      },
      builtFolder: join(scratch, 'cache'),
    };
  }

  const folder = (name: string): string => join(scratch, name);

  it('takes the one that its variable names, whatever else there is', async () => {
    const named = fake('named', 'my-etcd');
    fake('assets', 'etcd');
    fake('path', 'etcd');
    const env = { ETCD_BIN: named, KUBEBUILDER_ASSETS: folder('assets'), PATH: folder('path') };
    expect(await locateProgram('etcd', around(env))).to.equal(named);
  });

  it('then KUBEBUILDER_ASSETS, then PATH in its order, then the cache', async () => {
    const assets = fake('assets', 'etcd');
    const first = fake('first', 'etcd');
    fake('second', 'etcd');
    const PATH = `${folder('empty')}:${folder('first')}:${folder('second')}`;
    expect(await locateProgram('etcd', around({ KUBEBUILDER_ASSETS: folder('assets'), PATH }, ['etcd']))).to.equal(
      assets,
    );
    expect(await locateProgram('etcd', around({ PATH }, ['etcd']))).to.equal(first);
    expect(await locateProgram('etcd', around({ PATH: folder('empty') }, ['etcd']))).to.equal(
      join(scratch, 'cache', 'etcd'),
    );
    expect(built).to.deep.equal([]);
  });

  it('builds it when there is none', async () => {
    expect(await locateProgram('etcd', around({ PATH: '' }))).to.equal(join(scratch, 'cache', 'etcd'));
    expect(built).to.deep.equal(['etcd']);
  });

  it('passes over one that is too old, aloud', async () => {
    const old = fake('debian', 'etcd', '3.4.23');
    const recent = fake('local', 'etcd', '3.6.0');
    expect(await locateProgram('etcd', around({ PATH: `${folder('debian')}:${folder('local')}` }))).to.equal(recent);
    expect(said).to.deep.equal([`etcd: passed over 3.4 at ${old}: 3.6 or later is needed`]);
  });

  it('passes over an API server that is too new, too: behaviour is pinned to 1.36', async () => {
    fake('next', 'kube-apiserver', 'v1.37.0');
    await locateProgram('kube-apiserver', around({ PATH: folder('next') }));
    expect(built).to.deep.equal(['kube-apiserver']);
  });

  it('refuses one that the user named and that is too old or not there', async () => {
    const old = fake('debian', 'etcd', '3.4.23');
    const failure = async (named: string): Promise<unknown> =>
      locateProgram('etcd', around({ ETCD_BIN: named })).catch((error: unknown) => error);
    expect(await failure(old)).to.have.property('message', `ETCD_BIN=${old}: 3.4 at ${old}: 3.6 or later is needed`);
    expect(await failure('/nowhere/etcd'))
      .to.have.property('message')
      .that.contains('no program at /nowhere/etcd');
  });

  it('does not take the links that `make up` puts on PATH for an origin', async () => {
    fake('.cache/up/bin', 'etcdctl');
    await locateProgram('etcdctl', around({ PATH: folder('.cache/up/bin') }));
    expect(built).to.deep.equal(['etcdctl']);
  });

  it('takes all CNI plugins from one folder, never half of them', async () => {
    for (const name of pluginNames) fake('whole', name);
    fake('half', 'macvlan');
    expect(await locatePlugins(around({ PATH: `${folder('half')}:${folder('whole')}` }))).to.equal(folder('whole'));
    expect(await locatePlugins(around({ CNI_PLUGINS_DIR: folder('whole'), PATH: '' }))).to.equal(folder('whole'));
    const refused: unknown = await locatePlugins(around({ CNI_PLUGINS_DIR: folder('half') })).catch(
      (error: unknown) => error,
    );
    expect(refused).to.have.property('message').that.contains('no bridge, loopback, static, host-local there');
  });
});
