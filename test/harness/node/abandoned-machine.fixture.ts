/** A machine that nobody switches off, with a daemon in it: it says what it is and waits to be killed. */
import { openRun } from '../run.ts';
import { boot, newBody } from './machine.ts';

const run = openRun();
const body = newBody(run, 'node');
const machine = await boot(run, body);
const { stdout } = await machine.run(['sh', '-c', 'setsid -f sleep 86400 >/dev/null 2>&1; readlink /proc/self/ns/pid']);
console.log(JSON.stringify({ body, network: machine.network.path, processes: stdout.trim() }));
setInterval(() => undefined, 60_000);
