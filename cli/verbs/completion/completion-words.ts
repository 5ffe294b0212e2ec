/** The words of a command line that the completions offer: verbs, options and their values. */
import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** Values of arguments that commander has no choices for. */
const argumentWords: Readonly<Record<string, readonly string[]>> = {
  history: ['pod', 'subnet', 'node', 'owner', 'all'],
  completion: shells,
};

export interface VerbWords {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  /** The values of its arguments. */
  readonly arguments: readonly string[];
  /** The words that may follow the verb. */
  readonly words: readonly string[];
  /** Whether an argument is a file. */
  readonly takesFile: boolean;
}

export const describeVerbs = (commands: readonly Command[]): VerbWords[] =>
  commands.map((command) => {
    const options = [command, ...command.commands].flatMap((each) => each.options);
    const values = argumentWords[command.name()] ?? [];
    return {
      name: command.name(),
      description: command.description(),
      options,
      arguments: values,
      takesFile: command.registeredArguments.some((argument) => ['file', 'export'].includes(argument.name())),
      words: [...values, ...command.commands.map((each) => each.name()), ...options.flatMap(flagsOf)],
    };
  });

/** The value of an option. */
export interface OptionValue {
  /** The option's flags. */
  readonly flags: readonly string[];
  /** The possible values; empty if any value is possible. */
  readonly words: readonly string[];
  readonly isFile: boolean;
}

const flagsOf = ({ short, long }: Option): string[] => [short, long].flatMap((flag) => flag ?? []);

/** Describes an option's value. It is a file if the option's placeholder is one of these names. */
export const describeValue = (option: Option): OptionValue => ({
  flags: flagsOf(option),
  words: option.argChoices ?? [],
  isFile: /<(file|key|folder)\b/.test(option.flags),
});

/** The values of all options. An option has the same values with every verb. */
export const describeValues = (verbs: readonly VerbWords[]): OptionValue[] =>
  verbs
    .flatMap(({ options }) => options)
    .filter(({ required, optional }) => required || optional)
    .map(describeValue);

/** The patterns of a shell's `case` over the option before the cursor, with its commands. */
export const formatCases = (verbs: readonly VerbWords[], toCommands: (value: OptionValue) => string): string =>
  [...Map.groupBy(describeValues(verbs), toCommands)]
    .map(([commands, values]) => {
      const flags = new Set(values.flatMap((value) => value.flags));
      return `    ${[...flags].join('|')}) ${commands}return ;;`;
    })
    .join('\n');

/** A text in single quotes. */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
