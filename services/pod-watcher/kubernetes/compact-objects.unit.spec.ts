import { expect } from 'chai';
import fc from 'fast-check';
import { keyOf } from '../../../lib/kubernetes/client/informer.ts';
import type { ObjectStore } from '../../../lib/kubernetes/client/object-store.ts';
import { podNamed } from '../testing/fakes.ts';
import { CompactObjects } from './compact-objects.ts';
import { podRecords } from './objects/pod-record.ts';
import type { Pod } from './objects/pod.ts';

const namespaces = ['default', 'elsewhere'];

/** Makes a Pod that becomes a record, or a launcher, which is stored as it is. */
const makePod = (name: string, namespace: string, isUsual: boolean): Pod => ({
  ...podNamed(name, { metadata: { namespace } }),
  ...(!isUsual && { ledgerName: 'vm1' }),
});

const sorted = (texts: Iterable<string>): string[] => [...texts].sort();

function expectSame(objects: ObjectStore<Pod>, expected: ReadonlyMap<string, Pod>): void {
  expect(objects.size).to.equal(expected.size);
  expect(new Map(objects)).to.deep.equal(expected);
  expect(sorted(objects.keys())).to.deep.equal(sorted(expected.keys()));
  expect(sorted([...objects.values()].map(keyOf))).to.deep.equal(sorted(expected.keys()));
  for (const namespace of namespaces)
    expect(sorted(objects.keysOf?.(namespace) ?? [])).to.deep.equal(
      sorted(expected.keys()).filter((key) => key.startsWith(`${namespace}/`)),
    );
}

describe('CompactObjects', () => {
  it('CompactObjects has the same objects as a Map after random changes', () => {
    const anyPod = fc
      .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom(...namespaces), fc.boolean())
      .map((parts) => makePod(...parts));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('set', 'delete'), anyPod), { maxLength: 40, size: 'max' }),
        (steps) => {
          const objects = new CompactObjects(podRecords);
          const expected = new Map<string, Pod>();
          for (const [step, pod] of steps) {
            const key = keyOf(pod);
            if (step === 'set') for (const each of [objects, expected] as ObjectStore<Pod>[]) each.set(key, pod);
            else expect(objects.delete(key)).to.equal(expected.delete(key));
            expect(objects.has(key)).to.equal(expected.has(key));
            expect(objects.get(key)).to.deep.equal(expected.get(key));
          }
          expectSame(objects, expected);
        },
      ),
    );
  });

  it('CompactObjects continues an iteration in which objects are deleted', () => {
    const objects = new CompactObjects(podRecords);
    for (const name of ['a', 'b', 'c']) objects.set(`default/${name}`, podNamed(name));
    const seen: string[] = [];
    for (const [key] of objects) {
      seen.push(key);
      objects.delete(key);
    }
    expect(seen).to.deep.equal(['default/a', 'default/b', 'default/c']);
    expect(objects.size).to.equal(0);
  });
});
