/** The commands of the documents, as an operator copies them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../harness/paths.ts';

/** A document with commands for the chart. */
export type Guide = 'install.md' | 'operations.md';

/**
 * Returns the shell commands of a section, in their order.
 * @throws Error if the section is missing or has none
 */
export function readCommands(guide: Guide, section: string): string {
  const text = readFileSync(join(root, 'docs', guide), 'utf8');
  const [, content] = text.split(new RegExp(`\\n#{2,3} ${section}\\n`));
  const blocks = [...(content?.split(/\n#{2,3} /)[0] ?? '').matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block]) => block,
  );
  if (blocks.length === 0) throw new Error(`docs/${guide} has no commands in the section "${section}"`);
  return blocks.join('');
}
