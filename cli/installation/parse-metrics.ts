/** Parses metrics in Prometheus' text format. */
import type { Sample } from './facts.ts';

/** Metrics of ipledger, and when the process started. Buckets of histograms are left out. */
const kept = /^(ipledger_|subnet_|process_start_time_seconds)/;
const bucket = /_bucket$/;
const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const unescape = (value: string): string =>
  value.replaceAll(/\\(.)/g, (_match, char: string) => (char === 'n' ? '\n' : char));

/** The samples of ipledger's metrics that are finite numbers. */
export function parseMetrics(page: string): Sample[] {
  return page.split('\n').flatMap((each) => {
    const [, name = '', labels = '', value] = line.exec(each) ?? [];
    if (!kept.test(name) || bucket.test(name) || !Number.isFinite(Number(value))) return [];
    const pairs = [...labels.matchAll(label)].map(([, key = '', text = '']) => [key, unescape(text)] as const);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}
