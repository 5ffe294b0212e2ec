/**
 * An attacker as a program: `node attacker.ts NAME`. It prints the number of its calls by outcome,
 * as a line of JSON five times a second.
 */
import { callAsAgent, streamAsAgent } from './attackers/agent.ts';
import { spoilArchive, spoilArchiveOfBusyLedger } from './attackers/archive-writer.ts';
import { openHandshakes } from './attackers/handshakes.ts';
import { callWithoutIdentity, connectSilently } from './attackers/neighbour.ts';
import { callAsViewer, callAsWatcher } from './attackers/readers.ts';
import { type Attack, type Target, targetVariable } from './target.ts';

const attacks: Readonly<Record<string, Attack>> = {
  callAsAgent,
  streamAsAgent,
  callAsViewer,
  callAsWatcher,
  connectSilently,
  callWithoutIdentity,
  openHandshakes,
  spoilArchive,
  spoilArchiveOfBusyLedger,
};

const attack = attacks[process.argv[2] ?? ''];
if (!attack) throw new Error(`unknown attacker: use ${Object.keys(attacks).join(', ')}`);
const target = JSON.parse(process.env[targetVariable] ?? '') as Target;
/** Never aborts: the attacker ends when it is killed. */
const never = new AbortController().signal;
const outcomes: Record<string, number> = {};
const reportMs = 200;
setInterval(() => process.stdout.write(`${JSON.stringify(outcomes)}\n`), reportMs);
await attack(target, never, (outcome) => {
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
});
