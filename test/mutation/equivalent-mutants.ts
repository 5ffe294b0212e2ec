/** Mutants that change nothing that a spec could observe, each with the reason. */
import type { Mutant } from './mutants.ts';

interface Equivalent {
  readonly file: string;
  /** Text of the line, which occurs once in the file. */
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

export const equivalentMutants: readonly Equivalent[] = [
  {
    file: 'services/pod-watcher/controllers/mass-deletion-guard.ts',
    line: 'this.#halted.set(scope, Math.max(',
    from: '0',
    to: '1',
    why: 'a scope is halted only while objects are missing, so the other operand is at least 1',
  },
  {
    file: 'ledger/domain/queries/list-bindings.ts',
    line: ': [...found].toSorted(([a], [b]) =>',
    from: '1',
    to: '2',
    why: 'of the result of a comparison only the sign counts',
  },
  {
    file: 'services/pod-watcher/controllers/network-definitions/broadcast-domain.ts',
    line: 'const vlanId = ',
    from: '0',
    to: '1',
    why: 'a VLAN id 0 that is refused becomes 0 by the default beside the limit',
  },
  {
    file: 'ledger/domain/compact/ordered-slots.ts',
    line: 'let [low, high] = [0, buckets.length];',
    from: '0',
    to: '1',
    why: 'the first bucket also takes lower numbers, so the search for another one may begin with the second',
  },
  {
    file: 'ledger/domain/queries/address-map.ts',
    line: 'for (let first = 0; first < addresses.length; first += runSize) {',
    from: '<',
    to: '<=',
    why: 'it adds at most one empty run, and a merge with an empty run changes nothing',
  },
  {
    file: 'services/pod-watcher/controllers/ipam-claims/ipam-claim-address-cache.ts',
    line: "removeFrom(this.#placesOf, this.#holders.get(place)?.pod ?? '', place);",
    from: "this.#holders.get(place)?.pod ?? ''",
    to: 'this.#holders.get(place)?.pod',
    why: 'no Pod has the key undefined, as none has an empty one: nothing is removed',
  },
  {
    file: 'ledger/domain/state/compact/fields.ts',
    line: 'this.#lastSingleText = isSingle ? only : undefined;',
    from: 'this.#lastSingleText = isSingle ? only : undefined;',
    to: ';',
    why: 'it saves the look-up of a list that is written again, which returns the same number',
  },
  {
    file: 'ledger/log/reader/reverse-scan.ts',
    line: "Date.parse(segments[number - 1]?.since ?? '') < at",
    from: "segments[number - 1]?.since ?? ''",
    to: 'segments[number - 1]?.since',
    why: 'the search asks for numbers of existing segments only; the default is for the compiler',
  },
];

/** Returns why a mutant changes nothing; undefined for others. @param source of its file */
export function whyEquivalent({ file, line, from, to }: Mutant, source: string): string | undefined {
  const text = source.split('\n')[line - 1] ?? '';
  return equivalentMutants.find(
    (each) => each.file === file && text.includes(each.line) && each.from === from && each.to === to,
  )?.why;
}
