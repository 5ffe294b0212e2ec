/** A logger of programs in a simulation, whose lines are not written. */
import { pino } from 'pino';

export const silentLog = pino({ level: process.env['SIM_LOG'] ?? 'silent' });
