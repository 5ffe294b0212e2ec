/** Reads the facts of a support bundle, which may be of any origin. */
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { errorMessage } from '../../lib/errors.ts';
import { readTar } from '../../lib/tar/read-tar.ts';
import { CliError } from '../cli-error.ts';
import { type Facts, factsSchema } from '../installation/facts.ts';

/** The file of the facts in a bundle. */
export const factsFile = 'facts.json';
const fileMaxBytes = 160 << 20;
/** A bundle of sysdump has at most 128 MiB. */
const unpackedMaxBytes = 160 << 20;
const factsMaxBytes = 64 << 20;

/** @throws CliError for a file that is no bundle, or too large */
export async function readBundle(file: string): Promise<Facts> {
  try {
    const packed = await readFile(file);
    const archive = await promisify(gunzip)(packed, { maxOutputLength: unpackedMaxBytes });
    const facts = readTar(archive).get(factsFile);
    if (!facts) throw new Error(`it has no ${factsFile}`);
    if (facts.length > factsMaxBytes) throw new Error(`its ${factsFile} has more than ${factsMaxBytes >> 20} MiB`);
    const parsed = factsSchema.safeParse(JSON.parse(facts.toString('utf8')));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new Error(`its ${factsFile} is not of this version: ${issue?.path.join('.')}: ${issue?.message}`);
  } catch (error) {
    const message = `${file} is no support bundle that can be read: ${explain(error)}. Name a file of ipledger sysdump`;
    throw new CliError('usage', message, { cause: error });
  }
}

async function readFile(file: string): Promise<Buffer> {
  await using handle = await open(file, 'r');
  const stats = await handle.stat();
  if (!stats.isFile()) throw new Error('it is not a file');
  if (stats.size > fileMaxBytes) throw new Error(`it has more than ${fileMaxBytes >> 20} MiB`);
  return handle.readFile();
}

function explain(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (code === 'ERR_BUFFER_TOO_LARGE') return `it unpacks to more than ${unpackedMaxBytes >> 20} MiB`;
  return errorMessage(error);
}
