/** Checks the cost of tracing while it is off: nothing is loaded. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');
const exporter = 'node_modules/@opentelemetry/exporter-trace-otlp-http/';

/** Opens tracing in a new process, and prints how many files of the exporter it has loaded. */
async function countLoaded(endpoint: string): Promise<number> {
  const program = `
    import { createRequire } from 'node:module';
    import { openTracing } from ${JSON.stringify(join(import.meta.dirname, 'open-tracing.ts'))};
    import { createRegistry } from ${JSON.stringify(join(root, 'lib/process/metrics.ts'))};
    const life = { onStop() {} };
    const log = { info() {} };
    const settings = { traceEndpoint: ${JSON.stringify(endpoint)}, traceRatio: 1 };
    await openTracing({ settings, metrics: createRegistry('test'), service: 's', instance: 'i', life, log });
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes('${exporter}'));
    console.log(loaded.length);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return Number(stdout);
}

describe('Tracing', function () {
  this.timeout(60_000);

  it('OpenTelemetry is loaded only if an endpoint is set', async () => {
    expect(await countLoaded('')).to.equal(0);
    expect(await countLoaded('http://127.0.0.1:4318')).to.be.greaterThan(0);
  });

  it('no program imports OpenTelemetry statically', async () => {
    const programs = ['allocator', 'pod-watcher', 'node-agent'].map((name) => `services/${name}/main.ts`);
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: programs,
      bundle: true,
      splitting: true,
      write: false,
      outdir: 'unused',
      platform: 'node',
      format: 'esm',
      metafile: true,
      logLevel: 'error',
    });
    const reached = new Set(programs);
    for (const file of reached)
      for (const { path, kind } of metafile.inputs[file]?.imports ?? [])
        if (kind !== 'dynamic-import') reached.add(path);
    const files = Object.keys(metafile.inputs).filter((file) => file.startsWith(exporter));
    expect(files).not.to.be.empty;
    expect(files.filter((file) => reached.has(file))).to.deep.equal([]);
  });
});
