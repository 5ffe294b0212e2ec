/** `ipledger install-crds`: creates CustomResourceDefinitions, and extends present ones. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { parseAllDocuments } from 'yaml';
import { errorMessage } from '../../lib/errors.ts';
import { pause } from '../../lib/process/abortable.ts';
import { ApiError } from '../../lib/kubernetes/client/api-error.ts';
import { conditionOf } from '../../lib/kubernetes/object-meta.ts';
import { asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { connectKubernetes, type KubernetesClient } from '../clients/kubernetes-client.ts';
import { managedBy, mergeDefinition } from '../crds/merge-definition.ts';
import { type Answer, createTableAnswer } from '../output/answer.ts';
import { textColumns } from '../output/table.ts';
import { CliError } from '../cli-error.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** The most attempts: another program may write a definition between the read and the write. */
const maxAttempts = 5;
const establishedMs = 30_000;
const pollMs = 500;
const fileMaxBytes = 1 << 20;

/** A definition, and what changes it in the cluster. */
interface Step {
  readonly name: string;
  readonly action: 'created' | 'extended' | 'unchanged';
  readonly definition: UntypedJson;
  readonly managedBy: string;
  readonly clashes: readonly string[];
}

export function defineInstallCrds(verb: Command): void {
  addVerbOptions(verb)
    .addHelpText(
      'after',
      `
PATH is a file or a folder of YAML, for example deploy/crds. Changes the cluster that KUBECONFIG names; needs no allocator. It removes
no version, field, column or short name. If another program manages a definition, it only adds the missing fields, columns and versions.
It changes nothing if a definition clashes.`,
    )
    .action((paths: string[], options: VerbOptions) =>
      runAndPrint(options, (_allocator, signal) => installCrds(paths, options, signal)),
    );
}

async function installCrds(paths: readonly string[], options: VerbOptions, signal: AbortSignal): Promise<Answer> {
  const definitions = readDefinitions(paths);
  const kubernetes = await connectKubernetes(signal, options);
  const steps = await applyDefinitions(kubernetes, definitions);
  for (const { name } of steps) await waitUntilEstablished(kubernetes, name, signal);
  const rows = steps.map(({ name, action, managedBy: manager }) => [name, action, manager]);
  const content = steps.map(({ name, action, managedBy: manager }) => ({ name, action, managedBy: manager }));
  return createTableAnswer(
    { columns: textColumns('NAME', 'RESULT', 'MANAGED BY'), rows },
    { content: { definitions: content } },
  );
}

/**
 * Returns the CustomResourceDefinitions of files, and of the .yaml files in folders. Other
 * documents are ignored.
 * @throws CliError if a file cannot be read, or no file has one
 */
function readDefinitions(paths: readonly string[]): UntypedJson[] {
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

async function applyDefinitions(kubernetes: KubernetesClient, definitions: readonly UntypedJson[]): Promise<Step[]> {
  for (let attempt = 1; ; attempt += 1) {
    const steps: Step[] = [];
    for (const definition of definitions) steps.push(await planStep(kubernetes, definition));
    const clashes = steps.flatMap((step) => step.clashes);
    if (clashes.length > 0) throw new CliError('refused', `${clashes.join('\n')}\nNothing was changed.`);
    try {
      for (const { name, action, definition } of steps)
        if (action === 'created') await kubernetes.create(collection, definition);
        else if (action === 'extended') await kubernetes.replace(`${collection}/${name}`, definition);
      return steps;
    } catch (error) {
      const isChanged =
        error instanceof CliError && error.cause instanceof ApiError && error.cause.reaction === 'changed';
      if (!isChanged || attempt === maxAttempts) throw error;
    }
  }
}

async function planStep(kubernetes: KubernetesClient, ours: UntypedJson): Promise<Step> {
  const name = asText(asRecord(ours['metadata'])['name']);
  const found = await kubernetes.get(`${collection}/${encodeURIComponent(name)}`);
  if (!found) return { name, action: 'created', definition: ours, managedBy: managedBy.value, clashes: [] };
  const { definition, clashes } = mergeDefinition(found, ours);
  const labels = asRecord(asRecord(found['metadata'])['labels']);
  return {
    name,
    action: isDeepStrictEqual(definition, found) ? 'unchanged' : 'extended',
    definition,
    managedBy: asText(labels[managedBy.label]) || 'another program',
    clashes: clashes.map(
      ({ field, found: value, needed }) =>
        `CustomResourceDefinition ${name}: ${field} is ${value}, and ipledger needs ${needed}: update the program that installed it, or remove that program and its definition`,
    ),
  };
}

/** Waits: the API server may refuse the names until a deletion is complete. @throws CliError */
async function waitUntilEstablished(kubernetes: KubernetesClient, name: string, signal: AbortSignal): Promise<void> {
  for (const until = performance.now() + establishedMs; ; await pause(pollMs, signal)) {
    signal.throwIfAborted();
    const status = asRecord((await kubernetes.get(`${collection}/${name}`))?.['status']);
    const names = conditionOf(status, 'NamesAccepted');
    const isRefused = names['status'] === 'False';
    if (!isRefused && conditionOf(status, 'Established')['status'] === 'True') return;
    if (performance.now() < until) continue;
    if (isRefused) {
      const reason = asText(names['message']);
      throw new CliError(
        'refused',
        `CustomResourceDefinition ${name}: ${reason}: remove the definition that has this name`,
      );
    }
    throw new CliError('unreachable', `the API server has not established ${name} within ${establishedMs / 1_000} s`);
  }
}
