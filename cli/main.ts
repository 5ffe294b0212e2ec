/** `ipledger`: reads the ledger, and changes it for operators. Runs one verb of verb-table.ts. */
import { Command, CommanderError } from 'commander';
import { version } from '../lib/process/version.ts';
import { formatHelp } from './program/help-text.ts';
import { exitStatus } from './cli-error.ts';
import { verbTable } from './verb-table.ts';

/** The program. Its commands have no options until their verb is loaded. */
function createProgram(): Command {
  const program = new Command('ipledger')
    .description('Reads the ledger of IP addresses, and changes it.')
    .version(version)
    .showSuggestionAfterError()
    .exitOverride()
    .enablePositionalOptions() // the options of the command of `with-etcd` are its own
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'ipledger:')) })
    .addHelpText('after', formatHelp());
  const loaders = new Map(
    verbTable.map(({ usage, description, load }) => {
      const command = program.command(usage).description(description);
      return [command, async () => (await load())(command)] as const;
    }),
  );
  return program.hook('preSubcommand', async (_program, command) => {
    // `completion` prints the options of all verbs
    const needed = command.name() === 'completion' ? [...loaders.values()] : [loaders.get(command)];
    await Promise.all(needed.map(async (load) => load?.()));
  });
}

/** Runs a command line, as ['who-had', '10.0.0.2'], on this process's stdout and stderr. Returns the exit status. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  process.exitCode = 0;
  try {
    await createProgram().parseAsync(expandHelp(args), { from: 'user' });
  } catch (error) {
    process.exitCode = await report(error);
  }
  return process.exitCode;
}

/** `help VERB` as `VERB --help`: commander prints the former without the hook that adds the verb's options. */
const expandHelp = (args: readonly string[]): string[] =>
  args[0] === 'help' && args[1] !== undefined ? [...args.slice(1), '--help'] : [...args];

/** Prints the error and returns the exit status. */
async function report(error: unknown): Promise<number> {
  // Commander has printed its message
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitStatus.usage;
  const { explainError } = await import('./program/explain-error.ts');
  const { status, line } = explainError(error);
  if (line !== undefined) console.error(line);
  return status;
}

const { main: isProgram }: { main?: boolean } = import.meta; // undefined in Node 24.0 and 24.1
if (isProgram ?? true) {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has closed the pipe, as `head` does: end with the status of the answer
    if (error.code === 'EPIPE') process.exit();
    console.error(`ipledger: cannot write the answer: ${error.message}`);
    process.exit(exitStatus.refused);
  });
  await runCommandLine(process.argv.slice(2));
}
