import { expect } from 'chai';
import fc from 'fast-check';
import { EndedPods, endedPerChunk, endedPodId } from './ended-pods.ts';
import type { Undo } from './undo-log.ts';

const maxChunks = 3;
const idOf = (number: number): string => endedPodId('default', 'web-0', String(number));

/** Numbers of Pods. Small numbers are frequent, so that Pods repeat. */
const anyPods = fc.array(fc.oneof(fc.nat(400), fc.nat(40)), {
  minLength: 1,
  maxLength: 6 * endedPerChunk,
  size: 'max',
});

/** The expected behaviour, as a list. */
class Model {
  readonly all: string[] = [];

  get kept(): string[] {
    const chunks = Math.ceil(this.all.length / endedPerChunk);
    return this.all.slice(Math.max(0, chunks - maxChunks) * endedPerChunk);
  }

  add(id: string): void {
    if (!this.kept.includes(id)) this.all.push(id);
  }
}

const podsOf = (ended: EndedPods): string[] => [...ended.chunks()].flatMap(({ pods }) => pods);

describe('EndedPods', () => {
  it('EndedPods keeps the Pods of the last chunks without duplicates', () => {
    fc.assert(
      fc.property(anyPods, (numbers) => {
        const [ended, model] = [new EndedPods(maxChunks), new Model()];
        for (const id of numbers.map(idOf)) {
          ended.add(id);
          model.add(id);
        }
        expect(podsOf(ended)).to.deep.equal(model.kept);
        for (const id of numbers.map(idOf)) expect(ended.has(id)).to.equal(model.kept.includes(id));
        expect(ended.has(idOf(1_000))).to.equal(false);
      }),
    );
  });

  it('an undo removes an added Pod, and restores a chunk that the addition made forget', () => {
    fc.assert(
      fc.property(anyPods, anyPods, (first, second) => {
        const ended = new EndedPods(maxChunks);
        for (const number of first) ended.add(idOf(number));
        const before = podsOf(ended);
        const undos: Undo[] = [];
        for (const number of second) undos.push(ended.add(idOf(number)) ?? (() => undefined));
        for (const undo of undos.toReversed()) undo();
        expect(podsOf(ended)).to.deep.equal(before);
        for (const id of [...first, ...second].map(idOf)) expect(ended.has(id)).to.equal(before.includes(id));
      }),
    );
  });

  it('EndedPods is the same after a restore from the keys that each change writes', () => {
    fc.assert(
      fc.property(fc.array(anyPods, { maxLength: 4 }), (batches) => {
        const ended = new EndedPods(maxChunks);
        const keys = new Map<number, readonly string[]>();
        for (const numbers of batches) {
          const before = ended.end;
          for (const number of numbers) ended.add(idOf(number));
          for (const index of ended.changedSince(before)) {
            const pods = ended.chunk(index);
            if (pods) keys.set(index, pods);
            else keys.delete(index);
          }
        }
        const chunks = [...keys].toSorted(([one], [other]) => one - other).map(([index, pods]) => ({ index, pods }));
        expect(chunks).to.deep.equal([...ended.chunks()]);
        const restored = new EndedPods(maxChunks);
        restored.restore(chunks);
        for (const number of [401, 402, ...(batches[0] ?? [])]) {
          ended.add(idOf(number));
          restored.add(idOf(number));
        }
        expect([...restored.chunks()]).to.deep.equal([...ended.chunks()]);
      }),
    );
  });

  it('EndedPods writes at most three keys for the Pods of a transaction', () => {
    const ended = new EndedPods(maxChunks);
    for (let number = 0; number < 10 * endedPerChunk;) {
      const before = ended.end;
      for (const last = number + 63; number < last; number++) ended.add(idOf(number));
      expect(ended.changedSince(before).length).to.be.lessThan(4);
    }
  });
});
