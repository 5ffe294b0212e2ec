/** Logs JSON lines to stderr, at the level in LOG_LEVEL. Quoted texts are escaped. */
import { destination, type DestinationStream, pino } from 'pino';
import { escapeUnprintableJson } from '../unprintable.ts';

export type { Logger } from 'pino';

/** Creates the logger of a program, with its name in `part`. @param stream default: stderr */
export function createLogger(part: string, stream: DestinationStream = destination({ dest: 2, sync: true })) {
  return pino(
    {
      base: { part },
      level: process.env['LOG_LEVEL'] ?? 'info',
      hooks: { streamWrite: escapeUnprintableJson },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    stream,
  );
}
