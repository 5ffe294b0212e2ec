/**
 * Starts a Prometheus that scrapes the programs of a run, with the labels that the PodMonitor sets,
 * and reads from it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findFreePort } from './processes/free-ports.ts';
import { probeHttp } from './processes/readiness-probes.ts';
import { startServer } from './processes/server.ts';
import type { Run } from './run.ts';

export interface ScrapeTarget {
  readonly job: string;
  /** "127.0.0.1:<port>" with /metrics. */
  readonly address: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A series of an answer: its labels, and the value as Prometheus writes it. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/** A rule as Prometheus has evaluated it. */
export interface EvaluatedRule {
  readonly name: string;
  readonly query: string;
  /** `ok`, `err`, or `unknown` before the first evaluation. */
  readonly health: string;
  readonly lastError?: string;
}

export interface Prometheus {
  /** @throws Error with the answer of Prometheus if the query is invalid. */
  query(expression: string): Promise<readonly Series[]>;
  labelValues(metric: string, label: string): Promise<readonly string[]>;
  rules(): Promise<readonly EvaluatedRule[]>;
}

const readyWithinMs = 120_000;

/** Starts Prometheus, which evaluates once per second. @param ruleFiles paths of rule files */
export async function startPrometheus(
  run: Run,
  { targets, ruleFiles }: { readonly targets: readonly ScrapeTarget[]; readonly ruleFiles: readonly string[] },
): Promise<Prometheus> {
  const listen = `127.0.0.1:${await findFreePort()}`;
  const config = join(run.folder, 'prometheus.yaml');
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ruleFiles,
      scrape_configs: [...new Set(targets.map(({ job }) => job))].map((job) => ({
        job_name: job,
        static_configs: targets
          .filter((target) => target.job === job)
          .map(({ address, labels = {} }) => ({ targets: [address], labels })),
      })),
    }),
  );
  await startServer(run, {
    name: 'prometheus',
    program: 'prometheus',
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(run.folder, 'prometheus')}`,
      `--web.listen-address=${listen}`,
    ],
    ready: (signal) => probeHttp(`http://${listen}/-/ready`, signal),
    readyWithinMs,
  });
  const get = async (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<unknown> => {
    const answer = await fetch(`http://${listen}/api/v1/${path}?${new URLSearchParams(parameters)}`, {
      signal: run.signal,
    });
    const body = (await answer.json()) as { status: string; data: unknown; error?: string };
    if (body.status !== 'success') throw new Error(`${JSON.stringify(parameters)}: ${body.error}`);
    return body.data;
  };
  return {
    query: async (query) => ((await get('query', { query })) as { result: readonly Series[] }).result,
    labelValues: async (metric, label) =>
      (await get(`label/${label}/values`, { 'match[]': metric })) as readonly string[],
    rules: async () =>
      ((await get('rules')) as { groups: readonly { rules: readonly EvaluatedRule[] }[] }).groups.flatMap(
        ({ rules }) => rules,
      ),
  };
}
