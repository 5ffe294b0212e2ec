/** The npm packages of a bundle. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Part } from './part.ts';

const packageSchema = z.object({ name: z.string(), version: z.string(), license: z.string().default('') });

/** Takes the folders that `bundlePrograms` returns. @throws Error for a package without license */
export const readNpmParts = (root: string, folders: readonly string[]): Part[] =>
  folders.map((folder) => {
    const { name, version, license } = packageSchema.parse(
      JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
    );
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    return { kind: 'npm', name, version, license, purl, notice: readNotice(join(root, folder), license) };
  });

/** The files LICENSE, COPYING and NOTICE; else the statement of the license in package.json. */
function readNotice(folder: string, license: string): string {
  const files = globSync('{LICEN[CS]E,licen[cs]e,COPYING,NOTICE}*', { cwd: folder }).sort();
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return texts.join('\n\n') || `License: ${license}. The package contains no file with its text.`;
}
