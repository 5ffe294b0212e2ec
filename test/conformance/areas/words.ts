/** What cases say in words, as far as it is understood. */
import { notUnderstood } from '../case.ts';
import { type Json, textOf } from '../json.ts';

/** What becomes of an address or an object. */
export type Fate = 'kept' | 'released';

/** Words before the one that tells. */
const before = '^(?:is|are|both|all|old|the|then|ip|addresses|address)?(?:\\s*(?:is|are|both|all|old|the|IP CR))*\\s*';
const kept = new RegExp(
  `${before}(?:not (?:released|freed|deleted|removed|collected)|never|kept|keeps|retained|retains|reserved|unchanged|held|holds|present|allocated|exists|stays|remains|still|belongs|loaded|recreated|same)\\b`,
  'i',
);
const released = new RegExp(`${before}(?:released|free|freed|deleted|removed|returned|gone|absent|collected)\\b`, 'i');

/** "not released (…)", "kept", "both released", "free", "deleted by start-up gcIP" … @throws CannotExecute */
export function fateIn(words: Json): Fate {
  const text = textOf(words).trim();
  if (kept.test(text)) return 'kept';
  if (released.test(text)) return 'released';
  throw notUnderstood('expectation', words);
}
