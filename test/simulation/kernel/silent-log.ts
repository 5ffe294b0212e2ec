/** The logger of programs in a simulation. It writes nothing, or the lines of the level SIM_LOG. */
import { pino } from 'pino';

export const silentLog = pino({ level: process.env['SIM_LOG'] ?? 'silent' });
