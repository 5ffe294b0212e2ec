import { join } from 'node:path';
import { expect } from 'chai';
import { type Case, readCases } from './case.ts';
import { wantedOf } from './deviations.ts';
import { fieldsOf, type Json, listOf } from './json.ts';
import { modelled } from './model.ts';

/** Where ours is Kube-OVN's behaviour, and every step is one that the model has an opinion on. */
const covered = readCases(join(import.meta.dirname, 'cases.json')).filter(
  (the) =>
    the.area.startsWith('alloc-') &&
    wantedOf(the).deviation === undefined &&
    !listOf(the.when['steps']).some((step) => fieldsOf(step)['checkConflict'] === false),
);

/** What the model decides of a result, as far as the case says it. */
function decided(result: Json, said: Json | undefined): object {
  const kept = Object.entries(fieldsOf(result)).filter(
    ([key]) => ['v4', 'v6', 'owner'].includes(key) && fieldsOf(said)[key] !== undefined,
  );
  const { error, errorContains } = fieldsOf(result);
  return { ...Object.fromEntries(kept), refused: error !== undefined || errorContains !== undefined };
}

const decidedOf = (results: readonly Json[], { expect: { results: said } }: Case): object[] =>
  results.map((result, index) => decided(result, listOf(said)[index]));

describe('the model of what the ledger gives', () => {
  it('agrees with every case that must be as it stands', () => {
    expect(covered).to.have.length.above(30);
    for (const the of covered)
      expect(decidedOf(modelled(the), the), the.id).to.deep.equal(decidedOf(listOf(the.expect['results']), the));
  });
});
