/** `ipledger`: reads the ledger, and changes it for operators. Runs one verb of verb-table.ts. */
import { Command, CommanderError } from 'commander';
import { version } from '../lib/process/version.ts';
import { asCalled } from './called-as.ts';
import { formatHelp } from './program/help-text.ts';
import { exitStatus, CliError } from './cli-error.ts';
import { verbTable } from './verb-table.ts';
import { IpledgerError } from '../lib/errors.ts';
import { escapeControlCharacters } from './output/control-characters.ts';

/** The program. Its commands have no options until their verb is loaded. */
function createProgram(): Command {
  const program = new Command('ipledger')
    .description('Reads the ledger of IP addresses, and changes it.')
    .version(version)
    .showSuggestionAfterError()
    .exitOverride()
    .enablePositionalOptions() // the options of the command of `with-etcd` are its own
    .configureOutput({
      writeOut: (text) => void process.stdout.write(asCalled(text)),
      outputError: (text, write) => write(asCalled(text.replace(/^error:/, 'ipledger:'))),
    })
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

/** Runs a command line, for example ['who-had', '10.0.0.2']. Returns the exit status. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  process.exitCode = 0;
  try {
    await createProgram().parseAsync(expandHelp(args), { from: 'user' });
  } catch (error) {
    process.exitCode = report(error);
  }
  return process.exitCode;
}

/** Turns `help VERB` into `VERB --help`, for which commander also prints the verb's options. */
const expandHelp = (args: readonly string[]): string[] =>
  args[0] === 'help' && args[1] !== undefined ? [...args.slice(1), '--help'] : [...args];

/** Prints the error and returns the exit status. */
function report(thrown: unknown): number {
  // Commander has printed its message
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : exitStatus.usage;
  if (thrown instanceof IpledgerError && thrown.code === 'CANCELLED') return exitStatus.interrupted;
  const isKnown = thrown instanceof CliError || (thrown instanceof IpledgerError && thrown.kind !== 'bug');
  console.error(`ipledger: ${isKnown ? asCalled(oneLine(thrown.message)) : `this is a bug: ${stackOf(thrown)}`}`);
  return thrown instanceof CliError ? thrown.exitStatus : exitStatus.refused;
}

const oneLine = (text: string): string => escapeControlCharacters(text.replaceAll(/\s*\n\s*/g, '; '));

const stackOf = (thrown: unknown): string => (thrown instanceof Error && thrown.stack) || String(thrown);

const { main: isProgram }: { main?: boolean } = import.meta; // Node 24.0 and 24.1 lack it
if (isProgram ?? true) {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader has closed the pipe, as `head` does: end with the status of the answer
    if (error.code === 'EPIPE') process.exit();
    console.error(`ipledger: cannot write the answer: ${error.message}`);
    process.exit(exitStatus.refused);
  });
  await runCommandLine(process.argv.slice(2));
}
