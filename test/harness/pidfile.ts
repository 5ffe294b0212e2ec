/**
 * Who a background process is, written down so that it is recognised later: a pid alone is given to somebody else once
 * its owner is gone. Start time and boot tell them apart.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export interface PidRecord {
  readonly pid: number;
  /** Clock ticks from boot to the process's start, as the kernel counts them. */
  readonly startTime: string;
  readonly boot: string;
  /** With what it was started, to notice that it would be started otherwise now. */
  readonly settings: string;
}

/** Notes down a process that was just started. @throws Error when it is gone already. */
export function writePidFile(file: string, pid: number, settings: string): void {
  const startTime = startTimeOf(pid);
  if (startTime === undefined) throw new Error(`process ${pid} ended at once`);
  const record: PidRecord = { pid, startTime, boot: bootId(), settings };
  writeFileSync(`${file}.new`, JSON.stringify(record));
  renameSync(`${file}.new`, file);
}

/** The record, when its very process still lives; undefined when it ended, or never was. */
export function livingRecord(file: string): PidRecord | undefined {
  if (!existsSync(file)) return undefined;
  const record = JSON.parse(readFileSync(file, 'utf8')) as PidRecord;
  return record.boot === bootId() && record.startTime === startTimeOf(record.pid) ? record : undefined;
}

/** When a process was started; undefined when there is none, or only its exit status is left (a zombie). */
export function startTimeOf(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
