/** Which licenses the parts may have. */
import type { Part } from './part.ts';

/** They allow use and redistribution in a program of any license, if its notices are included. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'blessing',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSL-1.0',
  'CC0-1.0',
  'ISC',
  'LicenseRef-public-domain',
  'MIT',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
]);

/** Whether an SPDX expression of AND, OR and parentheses is permissive: all operands of an AND, one of an OR. */
export function isPermissive(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const operand = (): boolean => {
    const token = tokens[at++];
    if (token !== '(') return token !== undefined && permissive.has(token);
    const inner = alternatives();
    return tokens[at++] === ')' && inner;
  };
  const conjunction = (): boolean => {
    let holds = operand();
    for (; tokens[at] === 'AND'; holds = operand() && holds) at++;
    return holds;
  };
  const alternatives = (): boolean => {
    let holds = conjunction();
    for (; tokens[at] === 'OR'; holds = conjunction() || holds) at++;
    return holds;
  };
  return alternatives() && at === tokens.length;
}

/**
 * The parts that the policy rejects, one line each. Parts that become part of our programs are permissive. Debian's libraries and
 * programs are separate, unmodified files, with their copyright file beside them: debian-parts.ts lists each with its license.
 */
export const findRejectedLicenses = (parts: readonly Part[]): string[] =>
  parts
    .filter(({ kind, license }) => kind !== 'debian' && !isPermissive(license))
    .map(
      ({ purl, license }) => `${purl} has the license ${license === '' ? '(none)' : license}, which is not permissive`,
    );
