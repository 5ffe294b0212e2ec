/** Clients and replicas of a released version exchange messages with this one during an upgrade. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import protobuf from 'protobufjs';

const golden = join(import.meta.dirname, '../test/golden');
const file = join(import.meta.dirname, 'ipledger.proto');

/** A line for each field, enum value and method: what both sides of a call must agree on. */
function wireFormat(item: protobuf.ReflectionObject): string[] {
  const name = item.fullName.replace(/^\./, '');
  const own = (): string[] => {
    if (item instanceof protobuf.Type) return item.fieldsArray.map((field) => `${name}.${fieldFormat(field)}`);
    if (item instanceof protobuf.Enum)
      return Object.entries(item.values).map(([key, value]) => `${name}.${key} = ${value}`);
    if (item instanceof protobuf.Service)
      return item.methodsArray.map(
        ({ name: method, requestStream, requestType, responseStream, responseType }) =>
          `${name}.${method}(${requestStream ? 'stream ' : ''}${requestType}) ${responseStream ? 'stream ' : ''}${responseType}`,
      );
    return [];
  };
  const nested = item instanceof protobuf.Namespace ? item.nestedArray : [];
  return [...own(), ...nested.flatMap(wireFormat)];
}

function fieldFormat({ name, id, repeated, map, resolvedType, type, partOf }: protobuf.Field): string {
  const kind = resolvedType?.fullName.slice(1) ?? type;
  return `${name} = ${id} ${repeated ? 'repeated ' : ''}${map ? 'map ' : ''}${kind}${partOf ? ` in ${partOf.name}` : ''}`;
}

describe('The API', () => {
  const current = new Set(wireFormat(new protobuf.Root().loadSync(file, { keepCase: true }).resolveAll()));
  for (const released of globSync(join(golden, 'api-*.txt')))
    it(`The API has all fields, enum values and methods of ${basename(released, '.txt').replace('api-', '')}, with the same numbers and types`, () => {
      const lines = readFileSync(released, 'utf8').trimEnd().split('\n');
      expect(lines).to.have.length.greaterThan(500);
      expect(lines.filter((line) => !current.has(line))).to.deep.equal([]);
    });
});
