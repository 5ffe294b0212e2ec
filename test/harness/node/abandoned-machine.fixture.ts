/** A machine without a shutdown, with a daemon in it: prints its state and waits for SIGKILL. */
import { openRun } from '../run.ts';
import { bootMachine, createMachineState } from './machine.ts';

const run = openRun();
const state = createMachineState(run, 'node');
const machine = await bootMachine(run, state);
const { stdout } = await machine.run(['sh', '-c', 'setsid -f sleep 86400 >/dev/null 2>&1; readlink /proc/self/ns/pid']);
console.log(JSON.stringify({ state, network: machine.network.path, processes: stdout.trim() }));
setInterval(() => undefined, 60_000);
