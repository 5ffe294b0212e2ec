/** The CustomResourceDefinitions of the Prometheus Operator, from its Go module. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun } from '../harness/processes/command.ts';

const operator = {
  module: 'github.com/prometheus-operator/prometheus-operator@v0.83.0',
  /** The hash of the module's content, as in a go.sum. */
  sum: 'h1:qAKbm+45fqNGcn9sGTa1Ae2TM3KZuYA/uyoD2QKi9+o=',
};

/**
 * Downloads the module if Go's cache lacks it. Returns the files of the definitions that the chart
 * uses.
 * @throws Error if its content is not the pinned one
 */
export async function findPrometheusOperatorCrds(): Promise<string[]> {
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '' };
  const args = ['mod', 'download', '-json', operator.module];
  const answer = JSON.parse(await mustRun('go', args, { folder: tmpdir(), env, timeoutMs: 300_000 })) as {
    readonly Dir: string;
    readonly Sum: string;
  };
  if (answer.Sum !== operator.sum) throw new Error(`${operator.module} has the hash ${answer.Sum}`);
  return ['podmonitors', 'prometheusrules'].map((kind) =>
    join(answer.Dir, 'example', 'prometheus-operator-crd', `monitoring.coreos.com_${kind}.yaml`),
  );
}
