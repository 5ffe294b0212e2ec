/** The flags of kubectl that printed commands may have, for specs of what programs print. */

const ofAll = ['-n', '--namespace', '--context', '--kubeconfig'];
const ofLists = [...ofAll, '-A', '-l', '--selector'];
const flags: Readonly<Record<string, readonly string[]>> = {
  get: [...ofLists, '-o', '-w', '--watch', '--field-selector'],
  describe: ofLists,
  logs: [...ofAll, '-l', '-c', '-f', '--tail', '--prefix', '--previous', '--all-containers', '--since'],
  rollout: [...ofLists, '--timeout'],
  annotate: [...ofLists, '--overwrite', '--all'],
  edit: [...ofAll, '-o'],
  delete: [...ofLists, '--ignore-not-found', '--wait'],
};

/**
 * Why kubectl rejects a command, or shows only a part; undefined if it does not. Commands of other
 * verbs are not judged.
 * @param words those after `kubectl`
 */
export function wrongKubectl(words: readonly string[]): string | undefined {
  if (words[0] === 'ipledger') return undefined;
  const verb = words.find((word) => word in flags) ?? '';
  const used = words.filter((word) => /^--?[a-z]/i.test(word)).map((word) => word.split('=', 1)[0] ?? '');
  const wrong = used.find((flag) => flags[verb]?.includes(flag) === false);
  if (wrong !== undefined) return `kubectl ${verb} has no flag ${wrong}`;
  const isCut = verb === 'logs' && used.includes('-l') && !used.includes('--tail');
  return isCut ? 'kubectl logs with -l shows 10 lines without --tail' : undefined;
}
