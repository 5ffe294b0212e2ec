/**
 * Identifies a background process in a file. The kernel reuses a pid after the process ends, so the
 * record also has its start time and the boot id.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export interface PidRecord {
  readonly pid: number;
  /** Clock ticks from boot to the start of the process. */
  readonly startTime: string;
  readonly boot: string;
  /** Settings of the start, to detect a change. */
  readonly settings: string;
}

/** Writes the record of a process that was just started. @throws Error if it has already ended. */
export function writePidFile(file: string, pid: number, settings: string): void {
  const startTime = startTimeOf(pid);
  if (startTime === undefined) throw new Error(`process ${pid} ended immediately`);
  const record: PidRecord = { pid, startTime, boot: bootId(), settings };
  writeFileSync(`${file}.new`, JSON.stringify(record));
  renameSync(`${file}.new`, file);
}

/** Reads the record. undefined if its process has ended or the file is missing. */
export function readLivingRecord(file: string): PidRecord | undefined {
  if (!existsSync(file)) return undefined;
  const record = JSON.parse(readFileSync(file, 'utf8')) as PidRecord;
  return record.boot === bootId() && record.startTime === startTimeOf(record.pid) ? record : undefined;
}

/** Start time of a process. undefined if it does not exist or is a zombie. */
export function startTimeOf(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field is the program's name in parentheses. It can contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
