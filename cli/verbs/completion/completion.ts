/**
 * `ipledger completion SHELL`: prints a completion script. The script contains the verbs and
 * options of this program, so that completion needs no server.
 */
import type { Command, Option } from 'commander';
import {
  describeValues,
  describeVerbs,
  shells,
  type Shell,
  type VerbWords,
  describeValue,
  formatCases,
  quote,
} from './completion-words.ts';

/** The argument for kubectl, which runs kubectl_complete-ipledger for each completion. */
const kubectl = 'kubectl';

/** Defines the verb, which needs the options of all verbs in the parent command. */
export function defineCompletion(verb: Command): void {
  const [shell] = verb.registeredArguments;
  shell?.choices([...shells, kubectl]);
  verb
    .addHelpText(
      'after',
      `
  bash  source <(ipledger completion bash)
  zsh   source <(ipledger completion zsh)
  fish  ipledger completion fish | source
  kubectl finds completions itself, if kubectl_complete-ipledger is on PATH`,
    )
    .action((target: Shell | typeof kubectl, words: string[]) => {
      const verbs = describeVerbs(verb.parent?.commands ?? []);
      process.stdout.write(target === kubectl ? completeForKubectl(verbs, words) : formatters[target](verbs));
    });
}

/** Directives of cobra: offer no files, or offer files. */
const noFiles = ':4';
const files = ':0';

/**
 * The completions of the last word in kubectl's format: one per line, then a directive of cobra.
 * @param words the words after `kubectl ipledger`, the last one incomplete.
 */
function completeForKubectl(verbs: readonly VerbWords[], words: readonly string[]): string {
  const [typed = '', before = ''] = words.toReversed();
  const value = describeValues(verbs).find(({ flags }) => flags.includes(before));
  const following =
    words.length > 1 ? verbs.find(({ name }) => name === words[0])?.words : verbs.map(({ name }) => name);
  const matching = (value?.words ?? following ?? []).filter((word) => word.startsWith(typed));
  const isFile = value ? value.isFile : matching.length === 0;
  return [...matching, isFile ? files : noFiles].map((line) => `${line}\n`).join('');
}

const formatBashScript = (verbs: readonly VerbWords[]): string => `# ipledger: completion for bash
_ipledger() {
  local words= cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
${formatCases(verbs, ({ words }) => (words.length > 0 ? `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$cur")); ` : ''))}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${verbs.map(({ name }) => name).join(' ')}'
  else
    case \${COMP_WORDS[1]} in
${verbs.map(({ name, words }) => `      ${name}) words='${words.join(' ')}' ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _ipledger ipledger
`;

const formatZshScript = (verbs: readonly VerbWords[]): string => `#compdef ipledger
_ipledger() {
  case $words[CURRENT-1] in
${formatCases(verbs, ({ words, isFile }) => (isFile ? '_files; ' : words.length > 0 ? `compadd -- ${words.join(' ')}; ` : ''))}
  esac
  if (( CURRENT == 2 )); then
    local -a verbs=(
${verbs.map(({ name, description }) => `      ${quote(`${name}:${description}`)}`).join('\n')}
    )
    _describe verb verbs
    return
  fi
  case $words[2] in
${verbs.map(({ name, words, takesFile }) => `    ${name}) compadd -- ${words.join(' ')}${takesFile ? '; _files' : ''} ;;`).join('\n')}
  esac
}
compdef _ipledger ipledger
`;

const formatFishScript = (verbs: readonly VerbWords[]): string => `# ipledger: completion for fish
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

export const formatters: Readonly<Record<Shell, (verbs: readonly VerbWords[]) => string>> = {
  bash: formatBashScript,
  zsh: formatZshScript,
  fish: formatFishScript,
};
