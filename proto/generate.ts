/**
 * Generates files from ipledger.proto into generated/:
 *   ipledger.json     the table of fields that the codec uses to read and write messages
 *   ipledger.ts       the messages as plain TypeScript types, and one typed table of methods for
 *   each service
 *
 * The types are exactly those that codec.ts returns: numbers for 64-bit fields, text for enums,
 * `undefined` for absent values. `node proto/generate.ts --check` writes nothing, and fails if a
 * file is out of date.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';

const folder = import.meta.dirname;
const protoFile = join(folder, 'ipledger.proto');
const outputFolder = join(folder, 'generated');

const scalarTypes: Record<string, string> = {
  string: 'string',
  bool: 'boolean',
  bytes: 'Uint8Array',
  uint32: 'number',
  uint64: 'number',
};

/** Converts a doc comment of the .proto to TypeScript, indented; '' if there is none. */
function documentation(comment: string | null, indent: string): string {
  if (!comment) return '';
  const lines = comment.split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function valueType(field: protobuf.Field): string {
  if (field.resolvedType) return field.resolvedType.name;
  const type = scalarTypes[field.type];
  if (!type) throw new Error(`${field.fullName}: no TypeScript type for ${field.type}`);
  return type;
}

function fieldLine(field: protobuf.Field): string {
  const type = valueType(field);
  const comment = documentation(field.comment, '  ');
  if (field.map) return `${comment}  ${field.name}: Record<string, ${type}>;\n`;
  if (field.repeated) return `${comment}  ${field.name}: ${type}[];\n`;
  const optional = field.partOf !== null || field.resolvedType instanceof protobuf.Type;
  return `${comment}  ${field.name}${optional ? '?' : ''}: ${type};\n`;
}

function messageSource(type: protobuf.Type): string {
  const fields = type.fieldsArray.map(fieldLine).join('');
  return `${documentation(type.comment, '')}export interface ${type.name} {\n${fields}}\n`;
}

function enumSource(type: protobuf.Enum): string {
  const values = Object.keys(type.values).map((name) => `  | '${name}'`);
  return `${documentation(type.comment, '')}export type ${type.name} =\n${values.join('\n')};\n`;
}

function serviceSource(service: protobuf.Service): string {
  const lines = service.methodsArray.map((method) => {
    const name = method.name.charAt(0).toLowerCase() + method.name.slice(1);
    if (method.requestStream) throw new Error(`${method.fullName}: nothing is generated for streams of requests`);
    const kind = method.responseStream ? 'serverStream' : 'unary';
    const path = `/${service.fullName.slice(1)}/${method.name}`;
    const types = [method.requestType, method.responseType];
    return (
      documentation(method.comment, '  ') +
      `  ${name}: ${kind}<${types.join(', ')}>('${path}', '${types.join("', '")}'),\n`
    );
  });
  return `${documentation(service.comment, '')}export const ${service.name}Service = {\n${lines.join('')}};\n`;
}

const root = new protobuf.Root().loadSync(protoFile, { alternateCommentMode: true, keepCase: false }).resolveAll();
const scope = root.lookup('ipledger.v1');
if (!(scope instanceof protobuf.Namespace)) throw new Error(`${protoFile} has no package ipledger.v1`);
const items = scope.nestedArray;

function typesSource(): string {
  const parts = items.map((item) => {
    if (item instanceof protobuf.Type) return messageSource(item);
    if (item instanceof protobuf.Enum) return enumSource(item);
    if (item instanceof protobuf.Service) return serviceSource(item);
    throw new Error(`${item.fullName}: nothing is generated for this`);
  });
  return (
    '// Generated from ipledger.proto by generate.ts (make generate). Do not edit.\n' +
    "import { serverStream, unary } from '../codec.ts';\n\n" +
    parts.join('\n')
  );
}

/** The fields of messages and the names of enums for wire-format.ts, one line each. */
function tablesSource(): string {
  const lines = (entries: readonly (readonly [string, unknown])[]): string =>
    entries.map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(',\n');
  const enums = items
    .filter((item) => item instanceof protobuf.Enum)
    .map(({ name, values }) => [name, valueNames(name, values)] as const);
  const messages = items
    .filter((item) => item instanceof protobuf.Type)
    .map(({ name, fieldsArray }) => [name, fieldsArray.map(fieldRow)] as const);
  return `{\n  "enums": {\n${lines(enums)}\n  },\n  "messages": {\n${lines(messages)}\n  }\n}\n`;
}

function valueNames(name: string, values: Readonly<Record<string, number>>): string[] {
  const names = Object.entries(values).toSorted(([, one], [, other]) => one - other);
  if (names.some(([, value], index) => value !== index)) throw new Error(`${name}: its values must be 0, 1, 2 …`);
  return names.map(([each]) => each);
}

function fieldRow(field: protobuf.Field): (string | number)[] {
  if (field.map) throw new Error(`${field.fullName}: maps are not supported by wire-format.ts`);
  const type = field.resolvedType?.name ?? field.type;
  const label = field.repeated ? ['repeated'] : field.partOf && !field.resolvedType ? ['optional'] : [];
  return [field.name, field.id, type, ...label];
}

const generated: Record<string, string> = { 'ipledger.json': tablesSource(), 'ipledger.ts': typesSource() };
let outdated = 0;
for (const [name, source] of Object.entries(generated)) {
  const file = join(outputFolder, name);
  if (existsSync(file) && readFileSync(file, 'utf8') === source) continue;
  outdated++;
  if (!process.argv.includes('--check')) writeFileSync(file, source);
  console.log(
    `proto/generated/${name} ${process.argv.includes('--check') ? 'is out of date: run `make generate`' : 'written'}`,
  );
}
if (outdated > 0 && process.argv.includes('--check')) process.exitCode = 1;
