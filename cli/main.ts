/**
 * `ipledger`: asks the ledger, and has operators change it. Each verb is a file that adds itself to the program; failure.ts says how it ends.
 */
import { Command } from 'commander';
import project from '../package.json' with { type: 'json' };
import { addAllocations } from './allocations.ts';
import { addCheck } from './check.ts';
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
import { addShow } from './show.ts';
import { addUninstall } from './uninstall.ts';

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
  IPLEDGER_ETCD                      where etcd is, for verbs that need no allocator: http(s)://HOST:PORT, joined with commas
  KUBECONFIG                         the cluster that check reads, and that import and uninstall change

Exit status (check and verify have their own):
  0  done
  ${exitStatus.refused}  refused, or not known to the ledger
  ${exitStatus.usage}  wrong usage
  ${exitStatus.unreachable}  no allocator answers`,
  );
addShow(program);
addAllocations(program);
addHistory(program);
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
addUninstall(program);

// Whoever reads only the head of a list has closed the pipe: nothing more to do
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program.parseAsync();
} catch (error) {
  const { status, line } = explain(error);
  if (line !== undefined) console.error(line);
  process.exitCode = status;
}
