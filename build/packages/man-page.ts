/** The man page of a command line, as roff source with the macros of man(7). */
import type { Command, Help } from 'commander';

export interface ManPage {
  readonly name: string;
  readonly version: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
  /** One line. */
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

/** One line of text: backslashes and dashes are literal, and a dot or a quote at its start is no request. */
export const escapeRoff = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^(?=[.'])/, '\\&');
