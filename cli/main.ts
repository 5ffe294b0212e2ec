/**
 * `ipledger`: asks the ledger, and has operators change it. Each verb is a file that adds itself to the program; failure.ts says how it ends.
 */
import { Command } from 'commander';
import project from '../package.json' with { type: 'json' };
import { addAllocations } from './allocations.ts';
import { addCheck } from './check.ts';
import { addCompletion } from './completion.ts';
import { addDiff } from './diff.ts';
import { exitStatus, explain } from './failure.ts';
import { addHistory } from './history.ts';
import { addImport } from './import.ts';
import { addLift, addQuarantine } from './operations/quarantine.ts';
import { addRelease } from './operations/release.ts';
import { addReserve, addUnreserve } from './operations/reserve.ts';
import { addCheckpoint, addCheckpointKey } from './record/checkpoint.ts';
import { addExport } from './record/export.ts';
import { addReplay } from './record/replay.ts';
import { addVerify } from './record/verify.ts';
import { addRecover } from './recover.ts';
import { addShow } from './show.ts';
import { addStatus } from './status.ts';
import { addState } from './state.ts';
import { addUninstall } from './uninstall.ts';
import { addWatch } from './watch.ts';
import { addWhoHad } from './who-had.ts';
import { addWhy } from './why.ts';

const program = new Command('ipledger')
  .description('Asks the ledger of IP addresses, and changes it.')
  .version(project.version)
  .showSuggestionAfterError()
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'ipledger:')) })
  .addHelpText(
    'after',
    `
Environment:
  IPLEDGER_ENDPOINT                  where the allocator is, HOST:PORT, or several joined with commas (127.0.0.1:7411)
  IPLEDGER_TLS_CA, _CERT and _KEY    files for TLS; none for plaintext
  IPLEDGER_INDEX                     where the read model is, for history and why; none to ask the allocator
  IPLEDGER_ETCD                      where etcd is, for verbs that need no allocator: http(s)://HOST:PORT, joined with commas
  KUBECONFIG                         the cluster that check and why read, and that import, recover and uninstall change

Exit status (check and verify have their own):
  0  done
  ${exitStatus.refused}  refused, or not known to the ledger
  ${exitStatus.usage}  wrong usage
  ${exitStatus.unreachable}  no allocator answers
  ${exitStatus.nothing}  the answer is: nothing; nobody had it, no event matches, nothing changed
  ${exitStatus.interrupted}  ended by Ctrl-C`,
  );
addShow(program);
addStatus(program);
addAllocations(program);
addWhoHad(program);
addHistory(program);
addWhy(program);
addState(program);
addDiff(program);
addWatch(program);
addReserve(program);
addUnreserve(program);
addRelease(program);
addQuarantine(program);
addLift(program);
addVerify(program);
addCheckpoint(program);
addCheckpointKey(program);
addExport(program);
addReplay(program);
addCheck(program);
addImport(program);
addRecover(program);
addUninstall(program);
addCompletion(program);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads only the head of an answer has closed the pipe: nothing more to do, and the status is what it was to be
  if (error.code === 'EPIPE') process.exit();
  console.error(`ipledger: cannot write the answer: ${error.message}`);
  process.exit(exitStatus.refused);
});

try {
  await program.parseAsync();
} catch (error) {
  const { status, line } = explain(error);
  if (line !== undefined) console.error(line);
  process.exitCode = status;
}
