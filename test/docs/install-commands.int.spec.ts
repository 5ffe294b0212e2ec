/** Runs commands and values of the documents that need no cluster. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { version } from '../../lib/process/version.ts';
import { chartFolder, type Manifest, parseManifests, renderChart } from '../chart/render-chart.ts';
import { mustRun } from '../harness/processes/command.ts';
import { root } from '../harness/paths.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import { openRun, type Run } from '../harness/run.ts';
import { documentedCommands } from './documented-commands.ts';
import { runDocumented } from './run-documented.ts';

interface Volume {
  readonly projected?: object;
}

const findWorkload = (manifests: readonly Manifest[], name: string) =>
  JSON.parse(
    JSON.stringify(
      manifests.find(({ kind, metadata }) => /^(Deployment|DaemonSet)$/.test(kind) && metadata.name === name),
    ),
  ) as {
    spec: { replicas?: number; template: { spec: { nodeSelector?: object; volumes: Volume[] } } };
  };

describe('The documents', function () {
  this.timeout(60_000);
  let run: Run;
  before(() => {
    run = openRun();
  });
  after(() => run.end());

  it('The documents install the chart without pod-watcher and agents before a migration', async () => {
    const command = documentedCommands('docs/migration.md', 'hold-back');
    expect(command).to.match(
      /^helm install ipledger deploy\/chart -n ipledger-system --values deploy\/ha\/values.yaml --values my-values.yaml --set /,
    );
    const settings = [...command.matchAll(/(--set(?:-json)?) (?:'([^']*)'|(\S+))/g)].flatMap(
      ([, flag = '', quoted, plain = '']) => [flag, quoted ?? plain],
    );
    expect(settings).to.have.length(4);
    const manifests = parseManifests(await renderChart([], settings));
    expect(findWorkload(manifests, 'ipledger-pod-watcher').spec.replicas).to.equal(0);
    const { nodeSelector } = findWorkload(manifests, 'ipledger-node-agent').spec.template.spec;
    expect(nodeSelector).to.deep.equal({ 'ipledger.io/migrated': 'true' });
  });

  for (const [file, name] of [
    ['docs/install.md', 'monitoring'],
    ['docs/ovn.md', 'values'],
  ] as const)
    it(`The documents contain only values that the chart accepts: ${file}, ${name}`, async () => {
      const values = join(run.folder, `${name}.yaml`);
      writeFileSync(values, documentedCommands(file, name));
      const manifests = parseManifests(await renderChart([values]));
      const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(names).to.include.members(
        name === 'values' ? ['Deployment ipledger-ovn-projector'] : ['PodMonitor ipledger', 'PrometheusRule ipledger'],
      );
    });

  it("The documents configure an agent's token as the chart does", async () => {
    const { volumes } = parse(documentedCommands('docs/security.md', 'agent-token')) as { volumes: Volume[] };
    const agent = findWorkload(parseManifests(await renderChart([])), 'ipledger-node-agent');
    const mounted = agent.spec.template.spec.volumes.flatMap(({ projected }) => projected ?? []);
    expect(mounted).to.deep.equal(volumes.map(({ projected }) => projected));
  });

  it('The documents link the command line as a plugin of kubectl', async () => {
    const folder = join(run.folder, 'linked');
    mkdirSync(folder);
    const commands = documentedCommands('docs/cli.md', 'links').replace('/usr/local/bin', folder);
    const linked = await runDocumented(run, commands, {}, { folder: root });
    expect(linked).to.include({ code: 0, stderr: '' });
    const PATH = `${folder}:${dirname(await findProgram('kubectl'))}:${process.env['PATH']}`;
    expect(await mustRun('kubectl', ['ipledger', '--version'], { env: { PATH } })).to.equal(`${version}\n`);
  });

  it('The documents complete the verbs in a shell', async () => {
    const commands = `${documentedCommands('docs/cli.md', 'completion')}complete -p ipledger`;
    const { stdout } = await runDocumented(run, commands, {}, { shell: 'bash' });
    expect(stdout).to.match(/^complete .*ipledger$/m);
  });

  it('The documents print the readiness of a Pod with the Node of its image', async () => {
    const [, workload, script = ''] =
      /exec -n ipledger-system (\S+) -- node -e '(.*)'$/m.exec(documentedCommands('docs/install.md', 'probe')) ?? [];
    expect(workload).to.equal('deployment/ipledger-allocator');
    const server = createServer((request, response) => response.writeHead(503).end(`not ready: ${request.url}`));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const options = JSON.parse(readFileSync(join(chartFolder, 'files/node-options.json'), 'utf8')) as object;
      for (const NODE_OPTIONS of Object.values(options) as string[]) {
        const printed = await mustRun(process.execPath, ['-e', script.replace(':8080/', `:${port}/`)], {
          env: { PATH: process.env['PATH'], NODE_OPTIONS },
        });
        expect(printed).to.equal('503 not ready: /readyz\n');
      }
    } finally {
      server.close();
    }
  });
});
