/** Commands of the documents, for specs that run them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/paths.ts';

/** The shell block after the marker `<!-- run: NAME -->` of a document. @throws Error without it */
export function documentedCommands(file: string, name: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  const [, block] = new RegExp(`<!-- run: ${name} -->\n+\`\`\`sh\n(.*?)^\`\`\``, 'ms').exec(text) ?? [];
  if (block === undefined) throw new Error(`${file} has no shell block after <!-- run: ${name} -->`);
  return block;
}
