/**
 * A module to preload into a program, whose clock then differs from that of the machine by the
 * milliseconds in the file CLOCK_SHIFT_FILE, which SIGUSR2 makes it read. The clock that measures
 * elapsed time stays, as on a machine whose clock is set.
 */
import { readFileSync } from 'node:fs';

const file = process.env['CLOCK_SHIFT_FILE'] ?? '';
const machineNow = Date.now.bind(Date);
let shiftMs = 0;

process.on('SIGUSR2', () => {
  shiftMs = Number(readFileSync(file, 'utf8'));
});

const MachineDate = Date;
globalThis.Date = new Proxy(MachineDate, {
  construct: (target, args: unknown[]) =>
    Reflect.construct(target, args.length === 0 ? [machineNow() + shiftMs] : args) as Date,
  apply: () => new MachineDate(machineNow() + shiftMs).toString(),
});
MachineDate.now = () => machineNow() + shiftMs;
