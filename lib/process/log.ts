/** Log lines as JSON on stderr, with pino. LOG_LEVEL sets the level (default info). */
import { destination, pino } from 'pino';

export type { Logger } from 'pino';

/** The logger of one program. Each line has its name in `part`. */
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
