/** Sets up tracing in a program: flags, metric, and a tracer if an endpoint is set. */
import { InvalidArgumentError, Option } from 'commander';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { Logger } from '../process/log.ts';
import { trustPublicAuthorities } from '../tls/public-authorities.ts';
import { Counter, type Registry } from '../process/metrics.ts';
import type { OtlpOptions } from './otlp-exporter.ts';
import type { FinishedSpan } from './span.ts';
import { SpanQueue } from './span-queue.ts';
import { Tracer } from './tracer.ts';

export interface TracingSettings {
  /** The base URL of the collector; '' for no traces. */
  readonly traceEndpoint: string;
  /** The share of Pods that are traced, from 0 to 1. */
  readonly traceRatio: number;
}

/** The flags. Each has an environment variable. */
export const tracingOptions = (): Option[] => [
  new Option('--trace-endpoint <url>', 'base URL of an OpenTelemetry collector (OTLP over HTTP); no traces if empty')
    .env('OTEL_EXPORTER_OTLP_ENDPOINT')
    .argParser(parseEndpoint)
    .default(''),
  new Option('--trace-ratio <ratio>', 'part of the Pods that are traced, from 0 to 1; the same for all programs')
    .env('IPLEDGER_TRACE_RATIO')
    .argParser(parseRatio)
    .default(1),
];

/** @throws InvalidArgumentError */
function parseEndpoint(text: string): string {
  if (text === '') return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError('Use a URL, as http://collector:4318.');
  return text;
}

/** @throws InvalidArgumentError */
function parseRatio(text: string): number {
  const ratio = Number(text);
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(text) || ratio > 1) throw new InvalidArgumentError('Use a number from 0 to 1.');
  return ratio;
}

export interface TracedProgram extends Pick<OtlpOptions, 'service' | 'instance'> {
  readonly settings: TracingSettings;
  readonly metrics: Registry;
  readonly life: Pick<Lifecycle, 'onStop'>;
  readonly log: Logger;
}

/**
 * Returns the tracer of a program; undefined without an endpoint. Call it before the traced parts
 * start: then the last spans are exported after these parts have stopped.
 */
export async function openTracing(program: TracedProgram): Promise<Tracer | undefined> {
  const { settings, metrics, service, instance, life, log } = program;
  const dropped = new Counter({
    name: 'ipledger_trace_spans_dropped_total',
    help: 'Spans that the collector did not accept in time. Without tracing: 0.',
    registers: [metrics],
  });
  const { traceEndpoint: endpoint, traceRatio: ratio } = settings;
  if (endpoint === '' || ratio === 0) return undefined;
  if (new URL(endpoint).protocol === 'https:') trustPublicAuthorities();
  const { createOtlpExporter } = await import('./otlp-exporter.ts');
  const exportSpans = createOtlpExporter({ endpoint, service, instance });
  const queue = new SpanQueue({ exportSpans, onDropped: (count) => dropped.inc(count), log });
  life.onStop(() => queue.close());
  log.info({ endpoint: new URL(endpoint).host, ratio }, 'tracing');
  return new Tracer({ ratio, record: (span: FinishedSpan) => queue.add(span) });
}
