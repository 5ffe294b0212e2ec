/** Log lines as JSON on stderr. LOG_LEVEL sets the level. What they quote is escaped. */
import { destination, type DestinationStream, pino } from 'pino';
import { escapeUnprintableJson } from '../unprintable.ts';

export type { Logger } from 'pino';

/** The logger of one program. Each line has its name in `part`. @param stream default: stderr */
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
