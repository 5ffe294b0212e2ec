/** The Prometheus metrics of the console. docs/metrics.md describes each. */
import { addGauge, Counter, createRegistry, type Registry } from '../../lib/process/metrics.ts';
import { certificateGauges } from '../../lib/tls/certificate-reloader.ts';
import { handshakeGauge } from '../../lib/tls/handshake-limits.ts';

export interface ConsoleMetrics {
  readonly registry: Registry;
  readonly countRequest: (status: number) => void;
}

export function consoleMetrics(read: {
  readonly sessions: () => number;
  readonly streams: () => number;
}): ConsoleMetrics {
  const registry = createRegistry('console');
  for (const gauge of [...certificateGauges, handshakeGauge]) addGauge(registry, gauge);
  addGauge(registry, { name: 'ipledger_console_sessions', help: 'The people who are signed in.', read: read.sessions });
  addGauge(registry, {
    name: 'ipledger_console_streams',
    help: 'The browsers that follow the events.',
    read: read.streams,
  });
  const requests = new Counter({
    name: 'ipledger_console_requests_total',
    help: 'Requests that were answered, by the class of the HTTP status.',
    labelNames: ['status'],
    registers: [registry],
  });
  for (const status of ['2xx', '3xx', '4xx', '5xx']) requests.inc({ status }, 0);
  return { registry, countRequest: (status) => requests.inc({ status: `${Math.floor(status / 100)}xx` }) };
}
