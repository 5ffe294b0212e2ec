/** Prints the logs of the servers of a run when a test fails. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { logTail } from '../harness/processes/launch.ts';
import type { Run } from '../harness/run.ts';

/** Runs `work`. Prints the ends of the server logs if it fails. */
export async function printServerLogs<T>(run: Run, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    console.log(collectLogTails(run));
    throw error;
  }
}

function collectLogTails({ folder }: Run): string {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'));
  return logs.map((name) => `--- ${name}\n${logTail(join(folder, name))}`).join('\n');
}
