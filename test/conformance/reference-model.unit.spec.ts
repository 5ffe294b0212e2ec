import { join } from 'node:path';
import { expect } from 'chai';
import { type Case, readCases } from './case.ts';
import { expectationOf } from './deviations.ts';
import { fieldsOf, type Json, listOf } from '../harness/json.ts';
import { predictResults } from './reference-model.ts';

/** Cases without deviation whose steps the model supports. */
const covered = readCases(join(import.meta.dirname, 'cases.json')).filter(
  (testCase) =>
    testCase.area.startsWith('alloc-') &&
    expectationOf(testCase).deviation === undefined &&
    !listOf(testCase.when['steps']).some((step) => fieldsOf(step)['checkConflict'] === false),
);

/** The part of a result that the model predicts and the case expects. */
function predictedPart(result: Json, expected: Json | undefined): object {
  const fields = Object.entries(fieldsOf(result)).filter(
    ([key]) => ['v4', 'v6', 'owner'].includes(key) && fieldsOf(expected)[key] !== undefined,
  );
  const { error, errorContains } = fieldsOf(result);
  return { ...Object.fromEntries(fields), isRejected: error !== undefined || errorContains !== undefined };
}

const predictedParts = (results: readonly Json[], { expect: { results: expected } }: Case): object[] =>
  results.map((result, index) => predictedPart(result, listOf(expected)[index]));

describe('Reference model', () => {
  it('Reference model predicts every case without deviation', () => {
    expect(covered).to.have.length.above(30);
    for (const testCase of covered)
      expect(predictedParts(predictResults(testCase), testCase), testCase.id).to.deep.equal(
        predictedParts(listOf(testCase.expect['results']), testCase),
      );
  });
});
