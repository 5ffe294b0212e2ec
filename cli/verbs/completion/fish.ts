/** The completion script for fish. */
import type { Option } from 'commander';
import { describeValue, quote, type VerbWords } from './completion-words.ts';

export const formatFishScript = (verbs: readonly VerbWords[]): string => `# ipledger: completion for fish
complete -c ipledger -f
${verbs.flatMap(formatVerb).join('\n')}
`;

function formatVerb({ name, description, options, arguments: values, takesFile }: VerbWords): string[] {
  const afterVerb = `complete -c ipledger -n '__fish_seen_subcommand_from ${name}'`;
  return [
    `complete -c ipledger -n __fish_use_subcommand -a ${name} -d ${quote(description)}`,
    ...(takesFile ? [`${afterVerb} -F`] : []),
    ...(values.length > 0 ? [`${afterVerb} -a ${quote(values.join(' '))}`] : []),
    ...options.map((option) => `${afterVerb} ${formatOption(option)}`),
  ];
}

function formatOption(option: Option): string {
  const { short, long, required, optional, argChoices, description } = option;
  return [
    short && `-s ${short.slice(1)}`,
    long && `-l ${long.slice(2)}`,
    (required || optional) && (describeValue(option).isFile ? '-r -F' : '-x'),
    argChoices && `-a ${quote(argChoices.join(' '))}`,
    `-d ${quote(description)}`,
  ]
    .filter(Boolean)
    .join(' ');
}
