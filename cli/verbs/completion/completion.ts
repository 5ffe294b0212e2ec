/**
 * `ipledger completion SHELL`: prints a completion script. The script contains the verbs and options of this program, so that
 * completion needs no server.
 */
import type { Command } from 'commander';
import { formatBashScript } from './bash.ts';
import { describeVerbs, shells, type Shell, type VerbWords } from './completion-words.ts';
import { formatFishScript } from './fish.ts';
import { completeForKubectl } from './kubectl.ts';
import { formatZshScript } from './zsh.ts';

/** Not a shell: kubectl runs kubectl_complete-ipledger for each completion. */
const kubectl = 'kubectl';

const formatters: Readonly<Record<Shell, (verbs: readonly VerbWords[]) => string>> = {
  bash: formatBashScript,
  zsh: formatZshScript,
  fish: formatFishScript,
};

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
