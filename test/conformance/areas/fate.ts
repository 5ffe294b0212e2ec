/** Parses the words in which a case describes the fate of an address or object. */
import { unsupportedError } from '../case.ts';
import { type Json, textOf } from '../../harness/json.ts';

/** The fate of an address or an object. */
export type Fate = 'kept' | 'released';

/** Words that may precede the fate. */
const prefix = '^(?:is|are|both|all|old|the|then|ip|addresses|address)?(?:\\s*(?:is|are|both|all|old|the|IP CR))*\\s*';
const kept = new RegExp(
  `${prefix}(?:not (?:released|freed|deleted|removed|collected)|never|kept|keeps|retained|retains|reserved|unchanged|held|holds|present|allocated|exists|stays|remains|still|belongs|loaded|recreated|same)\\b`,
  'i',
);
const released = new RegExp(`${prefix}(?:released|free|freed|deleted|removed|returned|gone|absent|collected)\\b`, 'i');

/**
 * Parses "not released (…)", "kept", "both released", "free", "deleted by start-up gcIP" …
 * @throws UnsupportedCaseError
 */
export function parseFate(words: Json): Fate {
  const text = textOf(words).trim();
  if (kept.test(text)) return 'kept';
  if (released.test(text)) return 'released';
  throw unsupportedError('expectation', words);
}
