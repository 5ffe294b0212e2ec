/**
 * Sends spans to a collector as OTLP over HTTP, with OpenTelemetry's exporter. It also reads
 * OpenTelemetry's variables, such as OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_CERTIFICATE.
 * Only open-tracing.ts imports this file, and only if tracing is on, because OpenTelemetry's
 * packages take memory and start time.
 */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { rejectWhenAborted, timeoutSignal } from '../process/abortable.ts';
import { version } from '../process/version.ts';
import type { FinishedSpan } from './span.ts';
import type { TraceContext } from './trace-context.ts';

type ReadableSpan = Parameters<OTLPTraceExporter['export']>[0][number];
type HrTime = ReadableSpan['startTime'];

/** OpenTelemetry's numbers for kinds and statuses. */
const kinds = { internal: 0, server: 1, client: 2 } as const;
const status = { unset: 0, error: 2 } as const;
const success = 0;

/** The time limit of an export with retries. The deadline also covers slow replies. */
const exportTimeoutMs = 3_000;
const deadlineMs = 5_000;

export interface OtlpOptions {
  /** The base URL of the collector. */
  readonly endpoint: string;
  /** The name of this program. */
  readonly service: string;
  /** The name of this replica or node. */
  readonly instance: string;
}

/** Returns a function that sends spans. It rejects if the collector has not accepted them. */
export function createOtlpExporter({ endpoint, service, instance }: OtlpOptions) {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
    concurrencyLimit: 4,
  });
  const resource = resourceFromAttributes({
    'service.name': service,
    'service.namespace': 'ipledger',
    'service.instance.id': instance,
    'service.version': version,
  });
  return (spans: readonly FinishedSpan[]): Promise<void> => {
    const readable = spans.map((span) => readableSpan(span, resource));
    const sent = new Promise<void>((resolve, reject) => {
      exporter.export(readable, ({ code, error }) => {
        const result: number = code;
        if (result === success) resolve();
        else reject(error ?? new Error('the collector did not accept the spans'));
      });
    });
    return rejectWhenAborted(sent, timeoutSignal(deadlineMs));
  };
}

function readableSpan(span: FinishedSpan, resource: ReadableSpan['resource']): ReadableSpan {
  const { name, context, parentSpanId, isParentRemote, startMs, endMs, attributes, error, link } = span;
  const parent = parentSpanId === undefined ? undefined : { traceId: context.traceId, spanId: parentSpanId };
  return {
    name,
    kind: kinds[span.kind],
    spanContext: () => spanContext(context, false),
    ...(parent && { parentSpanContext: spanContext(parent, isParentRemote) }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    status: error === undefined ? { code: status.unset } : { code: status.error, message: error },
    attributes,
    links: link ? [{ context: spanContext(link, true) }] : [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'ipledger', version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const spanContext = ({ traceId, spanId }: TraceContext, isRemote: boolean) => ({
  traceId,
  spanId,
  isRemote,
  traceFlags: 1,
});

/** Converts to seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}
