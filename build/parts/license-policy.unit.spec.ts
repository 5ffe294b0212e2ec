import { expect } from 'chai';
import { findRejectedLicenses, isPermissive } from './describe-parts.ts';
import type { Part } from './part.ts';

const part = (kind: Part['kind'], license: string): Part => ({
  kind,
  name: 'a',
  version: '1.0.0',
  license,
  purl: 'pkg:npm/a@1.0.0',
  notice: 'Copyright',
});

describe('isPermissive', () => {
  const cases: [string, boolean][] = [
    ['MIT', true],
    ['GPL-3.0-only', false],
    ['MIT OR GPL-3.0-only', true],
    ['GPL-3.0-only OR MIT', true],
    ['MIT AND GPL-3.0-only', false],
    ['GPL-3.0-only AND MIT', false],
    ['MIT AND ISC', true],
    ['MIT OR GPL-3.0-only AND GPL-2.0-only', true],
    ['(MIT OR GPL-3.0-only) AND GPL-2.0-only', false],
    ['(MIT OR GPL-3.0-only) AND ISC', true],
    ['Apache-2.0 WITH LLVM-exception', false],
    ['', false],
    ['SEE LICENSE IN x', false],
    ['(MIT', false],
  ];
  for (const [expression, expected] of cases)
    it(`isPermissive returns ${expected} for '${expression}'`, () => {
      expect(isPermissive(expression)).to.equal(expected);
    });
});

describe('findRejectedLicenses', () => {
  it('findRejectedLicenses names a copyleft part of a program, and a part without a license', () => {
    expect(findRejectedLicenses([part('npm', 'AGPL-3.0-only'), part('go', '')])).to.deep.equal([
      'pkg:npm/a@1.0.0 has the license AGPL-3.0-only, which is not permissive',
      'pkg:npm/a@1.0.0 has the license (none), which is not permissive',
    ]);
  });

  it('findRejectedLicenses accepts a copyleft library of Debian, and a permissive part', () => {
    expect(findRejectedLicenses([part('debian', 'LGPL-2.1-or-later'), part('npm', 'MIT')])).to.deep.equal([]);
  });
});
