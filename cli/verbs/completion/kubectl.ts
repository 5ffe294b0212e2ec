/** Completion for `kubectl ipledger`. */
import { describeValues, type VerbWords } from './completion-words.ts';

/** Directives of cobra: offer no files, or offer files. */
const noFiles = ':4';
const files = ':0';

/**
 * The completions of the last word in kubectl's format: one per line, then a directive of cobra.
 * @param words the words after `kubectl ipledger`, the last one incomplete.
 */
export function completeForKubectl(verbs: readonly VerbWords[], words: readonly string[]): string {
  const [typed = '', before = ''] = words.toReversed();
  const value = describeValues(verbs).find(({ flags }) => flags.includes(before));
  const following =
    words.length > 1 ? verbs.find(({ name }) => name === words[0])?.words : verbs.map(({ name }) => name);
  const matching = (value?.words ?? following ?? []).filter((word) => word.startsWith(typed));
  const isFile = value ? value.isFile : matching.length === 0;
  return [...matching, isFile ? files : noFiles].map((line) => `${line}\n`).join('');
}
