/** Reads the fields of a spec. An invalid field counts as absent and is recorded as a problem. */
import type { UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';
import { projectorLimits } from '../limits.ts';

export class SpecFields {
  /** The problems, each as one sentence without a period. */
  readonly problems: string[] = [];
  readonly #spec: UntypedJson;

  constructor(spec: UntypedJson) {
    this.#spec = spec;
  }

  /** Returns a name; "" if absent. */
  name(key: string): string {
    return this.text(key, projectorLimits.nameLength);
  }

  /** Returns a text; "" if absent. */
  text(key: string, max: number): string {
    const value = this.#spec[key] ?? '';
    if (typeof value === 'string' && value.length <= max && !hasControlCharacter(value)) return value;
    this.problems.push(`spec.${key} must be a text of at most ${max} characters`);
    return '';
  }

  /** Returns a boolean; false if absent. */
  flag(key: string): boolean {
    const value = this.#spec[key] ?? false;
    if (typeof value === 'boolean') return value;
    this.problems.push(`spec.${key} must be true or false`);
    return false;
  }

  /** Returns a whole number; 0 if absent. */
  wholeNumber(key: string, max: number): number {
    const value = this.#spec[key] ?? 0;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
    this.problems.push(`spec.${key} must be a whole number from 0 to ${max}`);
    return 0;
  }

  /** Whether a field has a value other than false, 0 and an empty text, list or object. */
  isSet(key: string): boolean {
    const value = this.#spec[key];
    if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
    return Boolean(value);
  }
}

const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text);
