/** The fields that ipledger adds to the CustomResourceDefinition of another program, or refuses. */
import { expect } from 'chai';
import type { UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { mergeDefinition } from './merge-definition.ts';

type Schema = Record<string, unknown>;

interface Parts {
  readonly spec?: Schema;
  readonly version?: object;
  readonly names?: object;
  readonly others?: readonly object[];
  readonly labels?: object;
  readonly scope?: string;
}

const text = { type: 'string' };
const definition = ({
  spec = {},
  version = {},
  names = {},
  others = [],
  labels,
  scope = 'Cluster',
}: Parts): UntypedJson => ({
  metadata: { name: 'subnets.kubeovn.io', resourceVersion: '7', ...(labels && { labels }) },
  spec: {
    group: 'kubeovn.io',
    scope,
    names: { plural: 'subnets', kind: 'Subnet', shortNames: ['subnet'], ...names },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } } } },
        ...version,
      },
      ...others,
    ],
  },
});
const managed = { 'app.kubernetes.io/managed-by': 'ipledger' };
const path = 'versions[0].schema.openAPIV3Schema.properties.spec';
const merge = (found: Parts, ours: Parts) => {
  const { definition: merged, clashes } = mergeDefinition(definition(found), definition(ours));
  return { spec: merged['spec'], merged, clashes };
};

describe('merge-definition', () => {
  it('merge-definition adds missing fields and columns to the definition of another program, and keeps its names, versions and limits', () => {
    const { spec, merged, clashes } = merge(
      {
        spec: { properties: { acls: text, mtu: { ...text, pattern: 'x' } }, required: ['acls'] },
        version: { additionalPrinterColumns: [{ name: 'ACLs' }] },
        names: { shortNames: ['sn'] },
        others: [{ name: 'v2', served: true, storage: false }],
      },
      {
        spec: {
          properties: { mtu: { ...text, maxLength: 3 }, cooldownSeconds: { type: 'integer', minimum: 0 } },
          required: ['mtu'],
        },
        version: { additionalPrinterColumns: [{ name: 'acls' }, { name: 'CIDR' }] },
        names: { shortNames: ['subnet'] },
      },
    );
    expect(clashes).to.deep.equal([]);
    expect(merged).to.have.nested.property('metadata.resourceVersion', '7');
    expect(spec).to.have.deep.nested.property('names.shortNames', ['sn']);
    expect(spec).to.have.deep.nested.property('versions[0].additionalPrinterColumns', [
      { name: 'ACLs' },
      { name: 'CIDR' },
    ]);
    expect(spec).to.have.nested.property('versions[1].name', 'v2');
    expect(spec).to.have.deep.nested.property(path, {
      type: 'object',
      properties: { acls: text, mtu: { ...text, pattern: 'x' }, cooldownSeconds: { type: 'integer', minimum: 0 } },
      required: ['acls'],
    });
  });

  it('merge-definition adds neither rules nor a status subresource to the definition of another program, which may write such objects', () => {
    const rules = [{ rule: 'self == oldSelf' }];
    const ours = {
      spec: { properties: { vpc: text }, 'x-kubernetes-validations': rules },
      version: { subresources: { status: {} } },
    };
    const { spec } = merge({ spec: { properties: { vpc: text } } }, ours);
    expect(spec).to.not.have.nested.property('versions[0].subresources');
    expect(spec).to.not.have.nested.property(`${path}.x-kubernetes-validations`);
    const { spec: own } = merge({ labels: managed, spec: { properties: { vpc: text } } }, ours);
    expect(own).to.have.deep.nested.property('versions[0].subresources', { status: {} });
    expect(own).to.have.deep.nested.property(`${path}.x-kubernetes-validations`, rules);
  });

  it('merge-definition replaces the rules and limits of a definition that ipledger manages, and keeps fields that a newer version added', () => {
    const { spec } = merge(
      { labels: managed, spec: { properties: { vpc: { ...text, maxLength: 5 }, later: text }, required: ['later'] } },
      { spec: { properties: { vpc: { ...text, maxLength: 9 } } } },
    );
    expect(spec).to.have.deep.nested.property(path, {
      type: 'object',
      properties: { vpc: { ...text, maxLength: 9 }, later: text },
    });
  });

  it('merge-definition adds missing short names to a definition that ipledger manages, except its singular, which the API server refuses', () => {
    const { spec } = merge(
      { labels: managed, names: { singular: 'subnet', shortNames: ['sn'] } },
      { names: { singular: 'subnet', shortNames: ['subnet', 'net'] } },
    );
    expect(spec).to.have.deep.nested.property('names.shortNames', ['sn', 'net']);
  });

  it('merge-definition merges the fields below lists and maps', () => {
    const list = (fields: object): object => ({ type: 'array', items: { type: 'object', properties: fields } });
    const map = (fields: object): object => ({
      type: 'object',
      additionalProperties: { type: 'object', properties: fields },
    });
    const { spec } = merge(
      { spec: { properties: { routes: list({ a: text }), labels: map({ a: text }) } } },
      { spec: { properties: { routes: list({ b: text }), labels: map({ b: text }) } } },
    );
    expect(spec).to.have.deep.nested.property(`${path}.properties`, {
      routes: list({ a: text, b: text }),
      labels: map({ a: text, b: text }),
    });
  });

  it('merge-definition accepts a number where ipledger writes an integer', () => {
    const { spec, clashes } = merge(
      { spec: { properties: { used: { type: 'number' } } } },
      { spec: { properties: { used: { type: 'integer', format: 'int64' } } } },
    );
    expect(clashes).to.deep.equal([]);
    expect(spec).to.have.deep.nested.property(`${path}.properties.used`, { type: 'number' });
  });

  it('merge-definition adds a missing version that is not stored', () => {
    const { spec } = merge({ version: { name: 'v1alpha1' } }, {});
    expect(spec).to.have.nested.property('versions[0].storage', true);
    expect(spec).to.have.nested.property('versions[1].name', 'v1');
    expect(spec).to.have.nested.property('versions[1].storage', false);
  });

  it('merge-definition names each field that clashes', () => {
    const { clashes } = merge(
      {
        scope: 'Namespaced',
        names: { kind: 'Network' },
        spec: { properties: { mtu: text } },
        version: { served: false },
      },
      { spec: { properties: { mtu: { type: 'integer' } } } },
    );
    expect(clashes).to.deep.equal([
      { field: 'spec.scope', found: '"Namespaced"', needed: '"Cluster"' },
      { field: 'spec.names.kind', found: '"Network"', needed: '"Subnet"' },
      { field: 'spec.versions[v1].served', found: 'false', needed: 'true' },
      {
        field: 'spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.mtu.type',
        found: '"string"',
        needed: '"integer"',
      },
    ]);
  });

  it('merge-definition leaves a complete definition unchanged', () => {
    const parts = {
      labels: managed,
      spec: { properties: { vpc: text } },
      version: { additionalPrinterColumns: [{ name: 'VPC' }], subresources: {} },
    };
    const found = definition(parts);
    expect(mergeDefinition(found, definition(parts)).definition).to.deep.equal(found);
    const other = definition({ spec: { properties: { vpc: text } } });
    expect(mergeDefinition(other, definition({})).definition).to.deep.equal(other);
  });
});
