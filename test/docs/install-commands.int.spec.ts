/** Commands of docs/install.md and docs/migration.md that need no cluster. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { chartFolder, type Manifest, parseManifests, renderChart } from '../chart/render-chart.ts';
import { mustRun } from '../harness/processes/command.ts';
import { documentedCommands } from './documented-commands.ts';

const findWorkload = (manifests: readonly Manifest[], name: string) =>
  JSON.parse(
    JSON.stringify(
      manifests.find(({ kind, metadata }) => /^(Deployment|DaemonSet)$/.test(kind) && metadata.name === name),
    ),
  ) as {
    spec: { replicas?: number; template: { spec: { nodeSelector?: object } } };
  };

describe('The documents', function () {
  this.timeout(60_000);

  it('hold back the pod-watcher and the agents by an install of the chart', async () => {
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

  it('print the readiness of a Pod with the Node of its image', async () => {
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
