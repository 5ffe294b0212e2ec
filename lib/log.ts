/** One JSON line an event on stderr, by pino. The level comes from LOG_LEVEL (default info). */
import { destination, pino } from 'pino';

export type { Logger } from 'pino';

/** The logger of one program; `part` names it in each line. */
export function createLogger(part: string) {
  return pino(
    {
      base: { part },
      level: process.env['LOG_LEVEL'] ?? 'info',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    destination({ dest: 2, sync: true }),
  );
}
