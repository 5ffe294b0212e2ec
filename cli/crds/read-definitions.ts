/** Reads CustomResourceDefinitions from files. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { errorMessage } from '../../lib/kubernetes/client/api-error.ts';
import { asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { CliError } from '../program/cli-error.ts';

const fileMaxBytes = 1 << 20;

/**
 * Returns the CustomResourceDefinitions of files, and of the .yaml files in folders. Other documents are ignored.
 * @throws CliError if a file cannot be read, or no file has one
 */
export function readDefinitions(paths: readonly string[]): UntypedJson[] {
  const definitions = paths.flatMap(listFiles).flatMap(readFile);
  if (definitions.length === 0) throw new CliError('usage', `${paths.join(', ')}: no CustomResourceDefinition`);
  return definitions;
}

function listFiles(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.yaml'));
    return names.toSorted().map((name) => join(path, name));
  } catch (error) {
    throw new CliError('usage', `${path} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

function readFile(file: string): UntypedJson[] {
  try {
    const { size } = statSync(file);
    if (size > fileMaxBytes) throw new Error(`it has ${size} bytes, and at most ${fileMaxBytes} are read`);
    const objects = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
      const [error] = document.errors;
      if (error) throw error;
      return asRecord(document.toJS());
    });
    return objects.filter(({ kind }) => asText(kind) === 'CustomResourceDefinition');
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}
