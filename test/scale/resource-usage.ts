/** CPU and memory of processes from /proc, and a text table. */
import { readFileSync, writeFileSync } from 'node:fs';

/** The unit of CPU time, hundredths of a second on every Linux machine. */
const ticksPerSecond = 100;

/** Reads the CPU seconds of a process since its start, user and system. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name in parentheses. It can contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Reads the CPU milliseconds of the first thread of a process: the event loop of Node. */
export function loopCpuMs(pid: number): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Reads the CPU seconds of all processes on this machine. */
export function busySeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + interrupts + soft) / ticksPerSecond;
}

/** Reads the present resident memory, in MiB. */
export const residentMiB = (pid: number): number => memoryField(pid, 'VmRSS');

/** Reads the highest resident memory since the start or the last `resetPeakMemory`, in MiB. */
export const peakResidentMiB = (pid: number): number => memoryField(pid, 'VmHWM');

/** Starts the measurement of the highest resident memory again (proc(5), clear_refs). */
export const resetPeakMemory = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5');

function memoryField(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kibibytes = Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return Math.round(kibibytes / 102.4) / 10; // a tenth: rounded to a whole one, 60.4 met a goal of 60
}

/** Aligns columns: the first to the left, the others to the right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return rows.map((row) => `      ${line(row)}`).join('\n');
}
