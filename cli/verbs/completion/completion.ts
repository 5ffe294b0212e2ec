/**
 * `ipledger completion SHELL`: prints a completion script. The script contains the verbs and options of this program, so that
 * completion needs no server.
 */
import type { Command } from 'commander';
import { describeValues, describeVerbs, shells, type Shell, type VerbWords } from './completion-words.ts';
import { formatters } from './shell-scripts.ts';

/** Not a shell: kubectl runs kubectl_complete-ipledger for each completion. */
const kubectl = 'kubectl';

/** Needs the options of all verbs in the parent command. */
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
