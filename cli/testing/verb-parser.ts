/** Parses commands of the command line without running them, for specs of what programs print. */
import { Command } from 'commander';
import { verbTable } from '../verb-table.ts';

/** Why the words after `ipledger` are no valid command; undefined if they are one. */
export type CommandCheck = (words: readonly string[]) => string | undefined;

/**
 * Loads all verbs.
 * @param prose whether prose may follow the options, and arguments be left out, as in a sentence
 */
export async function createCommandCheck({ prose }: { readonly prose: boolean }): Promise<CommandCheck> {
  const verbs = new Map<string, Command>();
  for (const { usage, load } of verbTable) {
    const verb = new Command().enablePositionalOptions().command(usage).exitOverride();
    (await load())(verb);
    verbs.set(verb.name(), verb);
  }
  return ([name = '', ...rest]) => {
    const first = verbs.get(name);
    const sub = first?.commands.find((each) => each.name() === rest[0]);
    const [verb, words] = sub ? [sub, rest.slice(1)] : [first, rest];
    if (!verb) return `there is no verb ${name}`;
    // The options after the command of this verb are that command's
    if (verb.name() === 'with-etcd') return undefined;
    return wrongOption(verb, words) ?? (prose ? undefined : wrongArguments(verb, words));
  };
}

/** Finds an option that the verb does not have, or that lacks its value. */
function wrongOption(verb: Command, words: readonly string[]): string | undefined {
  for (const [index, word] of words.entries()) {
    if (!/^--?[a-z]/.test(word)) continue;
    const option = verb.options.find(({ short, long }) => [short, long].includes(word));
    if (!option) return `${verb.name()} has no option ${word}`;
    const value = words[index + 1];
    if (option.required && (value === undefined || value.startsWith('-'))) return `${word} has no value`;
  }
  return undefined;
}

function wrongArguments(verb: Command, words: readonly string[]): string | undefined {
  const { operands, unknown } = verb.parseOptions([...words]);
  const { registeredArguments: all } = verb;
  const required = all.filter((each) => each.required);
  const fits = operands.length >= required.length && (all.at(-1)?.variadic || operands.length <= all.length);
  return fits && unknown.length === 0 ? undefined : `the arguments of ${verb.name()} are ${operands.join(' ')}`;
}

/** The words of a command without comment, as a shell splits them. */
export const shellWords = (text: string): string[] =>
  (text.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []).map((word) => word.replace(/'([^']*)'|\\(.)/g, '$1$2'));
