import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { bundlePrograms } from './bundle-programs.ts';

/** Preloaded into a program: prints the name of each module that it loads. */
const hook = `import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => { console.error('loads ' + url.split('/').at(-1)); return next(url, context); } });`;

/** Text of @kubernetes/client-node, which is about 6 MB. */
const packageText = 'ExecAuth';

describe('A bundled pod-watcher', function () {
  this.timeout(30_000);
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-bundle-'));
    await bundlePrograms(['pod-watcher'], folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('A bundled pod-watcher starts without @kubernetes/client-node when its kubeconfig is plain YAML', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const entry = { name: 'a', cluster: { server: 'https://127.0.0.1:1' }, user: { token: 't' } };
    const context = { name: 'a', context: { cluster: 'a', user: 'a' } };
    const config = { clusters: [entry], users: [entry], contexts: [context], 'current-context': 'a' };
    writeFileSync(kubeconfig, stringify(config));
    const options = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
    const args = ['--allocator', '127.0.0.1:1', '--health-listen', '127.0.0.1:0'];
    const program = spawn(process.execPath, [...options, join(folder, 'pod-watcher.mjs'), ...args], {
      env: { PATH: process.env['PATH'], KUBECONFIG: kubeconfig },
    });
    const ended = once(program, 'exit');
    let output = '';
    for (const stream of [program.stdout, program.stderr])
      stream.on('data', (text: Buffer) => {
        output += String(text);
        if (output.includes('"msg":"starting"')) program.kill('SIGKILL');
      });
    await ended;
    expect(output).to.contain('"server":"https://127.0.0.1:1"');
    const loaded = readdirSync(folder).filter((name) => output.includes(`loads ${name}`));
    expect(loaded).to.include('pod-watcher.mjs');
    const withPackage = loaded.filter((name) => readFileSync(join(folder, name), 'utf8').includes(packageText));
    expect(withPackage).to.deep.equal([]);
  });
});
