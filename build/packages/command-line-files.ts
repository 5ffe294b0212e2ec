/** The files of the command line for the npm package and the archive, with the man page. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, type Help } from 'commander';
import { environmentVariables, exitStatuses } from '../../cli/program/help-text.ts';
import { verbTable } from '../../cli/verb-table.ts';
import { root } from '../bundle/bundle-programs.ts';
import { tarFile, type TarEntry } from '../../lib/tar/format-tar.ts';
import type { Release } from '../release.ts';

const launchers = ['ipledger', 'kubectl-ipledger', 'kubectl_complete-ipledger'];

const completions = {
  bash: 'share/bash-completion/completions/ipledger',
  zsh: 'share/zsh/site-functions/_ipledger',
  fish: 'share/fish/vendor_completions.d/ipledger.fish',
} as const;

/** @param bundle the folder of the bundled command line */
export async function commandLineFiles(bundle: string, release: Release): Promise<TarEntry[]> {
  return [
    ...launchers.map((name) => tarFile(`bin/${name}`, readFileSync(join(root, 'cli', name)), 0o755)),
    ...globSync('**/*.{mjs,proto}', { cwd: bundle }).map((path) =>
      tarFile(`lib/ipledger/${path}`, readFileSync(join(bundle, path))),
    ),
    ...Object.entries(completions).map(([shell, path]) => tarFile(path, printCompletion(bundle, shell))),
    tarFile('share/man/man1/ipledger.1', await createManPage(release)),
    tarFile('LICENSE', readFileSync(join(root, 'LICENSE'))),
    tarFile('README.md', readFileSync(join(root, 'docs/cli.md'))),
  ];
}

const printCompletion = (bundle: string, shell: string): string =>
  execFileSync(process.execPath, [join(bundle, 'ipledger.mjs'), 'completion', shell], { encoding: 'utf8' });

export async function createManPage({ version, createdAt }: Release): Promise<string> {
  const program = new Command('ipledger').enablePositionalOptions(); // as cli/main.ts
  for (const { usage, description, load } of verbTable) (await load())(program.command(usage).description(description));
  return formatManPage({
    name: 'ipledger',
    version,
    createdAt,
    summary: 'read the ledger of IP addresses, and change it',
    commands: program.commands,
    sections: [
      ['ENVIRONMENT', environmentVariables],
      ['EXIT STATUS', exitStatuses.map(([status, meaning]) => [String(status), meaning] as const)],
    ],
  });
}

export interface ManPage {
  readonly name: string;
  readonly version: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** The summary, in one line. */
  readonly summary: string;
  readonly commands: readonly Command[];
  /** Sections of terms and their meanings, as ENVIRONMENT. */
  readonly sections: readonly (readonly [
    title: string,
    terms: readonly (readonly [term: string, meaning: string])[],
  ])[];
}

export function formatManPage({ name, version, createdAt, summary, commands, sections }: ManPage): string {
  const date = new Date(createdAt * 1_000).toISOString().slice(0, 10);
  const lines = [
    `.TH ${name.toUpperCase()} 1 ${date} "${escapeRoff(`${name} ${version}`)}" "User Commands"`,
    '.nh', // no hyphens, which a reader would copy
    '.ad l',
    '.SH NAME',
    `${escapeRoff(name)} \\- ${escapeRoff(summary)}`,
    '.SH SYNOPSIS',
    `.B ${escapeRoff(name)}`,
    '.I VERB',
    escapeRoff('[arguments] [options]'),
    '.SH VERBS',
    ...commands.flatMap((command) => formatCommand(command, name)),
    ...sections.flatMap(([title, terms]) => [`.SH ${title}`, ...terms.flatMap(formatTerm)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The section of a command, then those of its subcommands. */
function formatCommand(command: Command, parents: string): string[] {
  const help: Help = command.createHelp();
  const name = `${parents} ${command.name()}`;
  const options = help.visibleOptions(command).filter(({ long }) => long !== '--help');
  const subcommands = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  return [
    `.SS ${escapeRoff(`${name} ${command.usage()}`.trim())}`,
    escapeRoff(asSentence(command.description())),
    ...help
      .visibleArguments(command)
      .flatMap((argument) => formatTerm([help.argumentTerm(argument), help.argumentDescription(argument)])),
    ...options.flatMap((option) => formatTerm([help.optionTerm(option), help.optionDescription(option)])),
    ...subcommands.flatMap((each) => formatCommand(each, name)),
  ];
}

const formatTerm = ([term, meaning]: readonly [string, string]): string[] => [
  '.TP',
  `.B ${escapeRoff(term)}`,
  escapeRoff(meaning),
];

const asSentence = (text: string): string =>
  text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

/** Formats a line of roff text: backslashes and dashes are literal, and it begins no request. */
export const escapeRoff = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^(?=[.'])/, '\\&');
