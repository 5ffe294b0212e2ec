/**
 * `ipledger completion SHELL`: a script that has the shell complete verbs, options and their values. It is made of the program itself, so
 * that it knows every verb; and it asks nobody while somebody types.
 */
import { Argument, type Command, type Option } from 'commander';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];
/** Not a shell: it asks for words each time, by the program kubectl_complete-ipledger. */
const kubectl = 'kubectl';

/** Words that may follow a verb, where commander does not know them. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  history: ['pod', 'subnet', 'node', 'owner', 'all'],
  completion: shells,
};

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that has a shell complete what is typed')
    .addArgument(new Argument('<shell>', 'which').choices([...shells, kubectl]))
    .addArgument(new Argument('[words...]', 'what is typed so far: for kubectl, which wants words and no script'))
    .addHelpText(
      'after',
      `
  bash  source <(ipledger completion bash)
  zsh   source <(ipledger completion zsh)
  fish  ipledger completion fish | source
  kubectl asks by itself, where it finds kubectl_complete-ipledger on PATH`,
    )
    .action((shell: Shell | typeof kubectl, words: string[]) => {
      const verbs = verbsOf(program);
      process.stdout.write(shell === kubectl ? forKubectl(verbs, words) : scripts[shell](verbs));
    });
}

/**
 * What may stand for the last of these words, as kubectl wants it of plugins: a line each, and last a colon with what the shell may do
 * besides (as cobra numbers it): nothing, or complete names of files where the value of an option is one, or nothing else is known.
 */
function forKubectl(verbs: readonly Verb[], words: readonly string[]): string {
  const [typed = '', before = ''] = words.toReversed();
  const value = valuesOf(verbs).find(({ flags }) => flags.includes(before));
  const ofVerb = words.length > 1 ? verbs.find(({ name }) => name === words[0])?.words : verbs.map(({ name }) => name);
  const found = (value?.words ?? ofVerb ?? []).filter((word) => word.startsWith(typed));
  const isFile = value ? value.isFile : found.length === 0;
  return [...found, isFile ? orFiles : noFiles].map((line) => `${line}\n`).join('');
}

const noFiles = ':4';
const orFiles = ':0';

interface Verb {
  readonly name: string;
  readonly description: string;
  readonly options: readonly Option[];
  readonly words: readonly string[];
  /** As an argument. */
  readonly takesFile: boolean;
}

const verbsOf = (program: Command): Verb[] =>
  program.commands.map((command) => {
    const options = [command, ...command.commands].flatMap((each) => each.options);
    return {
      name: command.name(),
      description: command.description(),
      options,
      takesFile: command.registeredArguments.some((argument) => ['file', 'export'].includes(argument.name())),
      words: [
        ...(subjects[command.name()] ?? []),
        ...command.commands.map((each) => each.name()),
        ...options.flatMap(({ short, long }) => [short, long].flatMap((flag) => flag ?? [])),
      ],
    };
  });

/** What an option is followed by. */
interface Value {
  readonly flags: readonly string[];
  /** All that may be; none where anything may. */
  readonly words: readonly string[];
  readonly isFile: boolean;
}

const valueOf = ({ flags, short, long, argChoices }: Option): Value => ({
  flags: [short, long].flatMap((flag) => flag ?? []),
  words: argChoices ?? [],
  isFile: /<(file|export|key|where)>/.test(flags),
});

/** Of all options that take one: of the same kind with every verb. */
function valuesOf(verbs: readonly Verb[]): Value[] {
  const all = verbs.flatMap(({ options }) => options).filter(({ required, optional }) => required || optional);
  return all.map(valueOf);
}

/** What a shell does after them, by its own words for it: the patterns of a `case`. */
const casesOf = (verbs: readonly Verb[], does: (value: Value) => string): string =>
  [...Map.groupBy(valuesOf(verbs), does)]
    .map(([what, values]) => `    ${[...new Set(values.flatMap(({ flags }) => flags))].join('|')}) ${what}return ;;`)
    .join('\n');

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const names = (verbs: readonly Verb[]): string => verbs.map(({ name }) => name).join(' ');

const bash = (verbs: readonly Verb[]): string => `# ipledger: completion for bash
_ipledger() {
  local words= cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
${casesOf(verbs, ({ words }) => (words.length > 0 ? `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$cur")); ` : ''))}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${names(verbs)}'
  else
    case \${COMP_WORDS[1]} in
${verbs.map(({ name, words }) => `      ${name}) words='${words.join(' ')}' ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _ipledger ipledger
`;

const zsh = (verbs: readonly Verb[]): string => `#compdef ipledger
_ipledger() {
  case $words[CURRENT-1] in
${casesOf(verbs, ({ words, isFile }) => (isFile ? '_files; ' : words.length > 0 ? `compadd -- ${words.join(' ')}; ` : ''))}
  esac
  if (( CURRENT == 2 )); then
    local -a verbs=(
${verbs.map(({ name, description }) => `      ${quoted(`${name}:${description}`)}`).join('\n')}
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

const fish = (verbs: readonly Verb[]): string => `# ipledger: completion for fish
complete -c ipledger -f
${verbs.flatMap(fishVerb).join('\n')}
`;

function fishVerb({ name, description, options, takesFile }: Verb): string[] {
  const seen = `complete -c ipledger -n '__fish_seen_subcommand_from ${name}'`;
  const ofOption = (option: Option): string => {
    const { short, long, required, optional, argChoices, description: what } = option;
    return [
      seen,
      short && `-s ${short.slice(1)}`,
      long && `-l ${long.slice(2)}`,
      (required || optional) && (valueOf(option).isFile ? '-r -F' : '-x'),
      argChoices && `-a ${quoted(argChoices.join(' '))}`,
      `-d ${quoted(what)}`,
    ]
      .filter(Boolean)
      .join(' ');
  };
  const words = subjects[name];
  return [
    `complete -c ipledger -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
    ...(takesFile ? [`${seen} -F`] : []),
    ...(words ? [`${seen} -a ${quoted(words.join(' '))}`] : []),
    ...options.map(ofOption),
  ];
}

const scripts: Readonly<Record<Shell, (verbs: readonly Verb[]) => string>> = { bash, zsh, fish };
