/**
 * Compares the CNI plugin in the node's folder with the agent's: another installer may replace it.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

/**
 * Returns a function that compares the two files; its result is undefined while `installed` is
 * absent. Reads the files again only after a change of `installed`.
 */
export function comparePlugin(installed: string, expected: string): () => Promise<boolean | undefined> {
  let compared: { readonly version: string; readonly isCurrent: boolean } | undefined;
  return async () => {
    if (installed === '') return undefined;
    const version = await versionOf(installed);
    if (compared?.version !== version) compared = { version, isCurrent: await isSame(installed, expected) };
    return compared.isCurrent;
  };
}

/** Returns a text that changes with each installation of a file; "" if the file is absent. */
async function versionOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  return found ? `${found.ino} ${found.size} ${found.ctimeMs}` : '';
}

async function isSame(one: string, other: string): Promise<boolean> {
  const digests = await Promise.all([one, other].map((file) => digestOf(file).catch(() => undefined)));
  return digests[0] !== undefined && digests[0] === digests[1];
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
