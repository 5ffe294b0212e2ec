/**
 * Merges a CustomResourceDefinition of ipledger into the one that a cluster has. No version, field,
 * column or short name of the latter is removed. If another program manages it, its names, rules
 * and limits stay, too: that program may still write such objects.
 */
import { isDeepStrictEqual } from 'node:util';
import { asRecord, asRecords, asText, asTexts, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';

/** The label of a definition whose rules and limits ipledger sets. */
export const managedBy = { label: 'app.kubernetes.io/managed-by', value: 'ipledger' } as const;

/** A value of the cluster's definition with which ipledger cannot work. */
export interface Clash {
  readonly field: string;
  readonly found: string;
  readonly needed: string;
}

export interface MergedDefinition {
  readonly definition: UntypedJson;
  /** The definition is usable only if there are none. */
  readonly clashes: readonly Clash[];
}

interface Context {
  /** Whether ipledger manages the cluster's definition. */
  readonly isManaged: boolean;
  readonly clashes: Clash[];
}

export function mergeDefinition(found: UntypedJson, ours: UntypedJson): MergedDefinition {
  const labels = asRecord(asRecord(found['metadata'])['labels']);
  const context: Context = { isManaged: labels[managedBy.label] === managedBy.value, clashes: [] };
  const [spec, needed] = [asRecord(found['spec']), asRecord(ours['spec'])];
  const [names, neededNames] = [asRecord(spec['names']), asRecord(needed['names'])];
  expectEqual(context, 'spec.scope', spec['scope'], needed['scope']);
  for (const key of ['kind', 'plural']) expectEqual(context, `spec.names.${key}`, names[key], neededNames[key]);
  const merged = {
    ...spec,
    ...(context.isManaged && { names: { ...names, ...mergeShortNames(names, neededNames) } }),
    versions: mergeVersions(context, asRecords(spec['versions']), asRecords(needed['versions'])),
  };
  return { definition: { ...found, spec: merged }, clashes: context.clashes };
}

/** The API server refuses a new short name that is the definition's own singular. */
function mergeShortNames(found: UntypedJson, ours: UntypedJson): UntypedJson {
  const missing = asTexts(ours['shortNames']).filter((name) => name !== found['singular']);
  const shortNames = [...new Set([...asTexts(found['shortNames']), ...missing])];
  return shortNames.length > 0 ? { shortNames } : {};
}

function expectEqual({ clashes }: Context, field: string, found: unknown, needed: unknown): void {
  if (!isDeepStrictEqual(found, needed))
    clashes.push({ field, found: formatValue(found), needed: formatValue(needed) });
}

const formatValue = (value: unknown): string => JSON.stringify(value) ?? 'absent';

function mergeVersions(context: Context, found: readonly UntypedJson[], ours: readonly UntypedJson[]): UntypedJson[] {
  const missing = ours.filter(({ name }) => !found.some((version) => version['name'] === name));
  return [
    ...found.map((version) => {
      const needed = ours.find(({ name }) => name === version['name']);
      return needed ? mergeVersion(context, version, needed) : version;
    }),
    // A new version is not the stored one: objects are stored in a version already
    ...missing.map((version) => ({ ...version, storage: false })),
  ];
}

function mergeVersion(context: Context, found: UntypedJson, ours: UntypedJson): UntypedJson {
  const field = `spec.versions[${asText(ours['name'])}]`;
  expectEqual(context, `${field}.served`, found['served'], true);
  const columns = context.isManaged ? mergeColumns(ours, found) : mergeColumns(found, ours);
  const subresources = { ...asRecord(found['subresources']), ...asRecord(ours['subresources']) };
  const [schema, needed] = [found, ours].map((each) => asRecord(asRecord(each['schema'])['openAPIV3Schema']));
  return {
    ...found,
    // A controller that writes the status with the rest of the object would lose it to a new
    // subresource
    ...(context.isManaged && Object.keys(subresources).length > 0 && { subresources }),
    ...(columns.length > 0 && { additionalPrinterColumns: columns }),
    schema: { openAPIV3Schema: mergeSchema(context, `${field}.schema.openAPIV3Schema`, schema ?? {}, needed ?? {}) },
  };
}

function mergeColumns(first: UntypedJson, second: UntypedJson): UntypedJson[] {
  const columns = asRecords(first['additionalPrinterColumns']);
  const names = new Set(columns.map(({ name }) => asText(name).toLowerCase()));
  const rest = asRecords(second['additionalPrinterColumns']).filter(
    ({ name }) => !names.has(asText(name).toLowerCase()),
  );
  return [...columns, ...rest];
}

/** Merges two nodes of a schema, and what is below them. */
function mergeSchema(context: Context, field: string, found: UntypedJson, ours: UntypedJson): UntypedJson {
  const isWider = found['type'] === 'number' && ours['type'] === 'integer';
  if (!isWider) expectEqual(context, `${field}.type`, found['type'], ours['type']);
  const structure: Record<string, unknown> = {};
  const [properties, needed] = [asRecord(found['properties']), asRecord(ours['properties'])];
  for (const name of new Set([...Object.keys(properties), ...Object.keys(needed)]))
    structure[name] = mergeChild(context, `${field}.properties.${name}`, properties[name], needed[name]);
  const merged: Record<string, unknown> = { ...(context.isManaged ? ours : found) };
  if (Object.keys(structure).length > 0) merged['properties'] = structure;
  for (const key of ['items', 'additionalProperties'])
    if (found[key] !== undefined || ours[key] !== undefined)
      merged[key] = mergeChild(context, `${field}.${key}`, found[key], ours[key]);
  return merged;
}

/** `additionalProperties` may be a schema or a boolean. */
function mergeChild(context: Context, field: string, found: unknown, ours: unknown): unknown {
  if (found === undefined || ours === undefined) return found ?? ours;
  if (typeof found === 'boolean' || typeof ours === 'boolean') return found;
  return mergeSchema(context, field, asRecord(found), asRecord(ours));
}
