import { expect } from 'chai';
import { wrapComments } from './wrap-comments.ts';

const wrap = (...lines: string[]): string[] => wrapComments(lines.join('\n'), 24).split('\n');

describe('Wrapped comments', () => {
  it('Wrapped comments make several lines of a wide documentation comment, each tag in a line of its own', () => {
    expect(wrap('  /** Reads a row. @throws Error without it */')).to.deep.equal([
      '  /**',
      '   * Reads a row.',
      '   * @throws Error',
      '   * without it',
      '   */',
    ]);
  });

  it('Wrapped comments fill only the paragraphs that are too wide', () => {
    expect(
      wrap('/**', ' * Short', ' * lines.', ' *', ' * One that is wide enough', ' * for two.', ' */'),
    ).to.deep.equal(['/**', ' * Short', ' * lines.', ' *', ' * One that is wide', ' * enough for two.', ' */']);
  });

  it('Wrapped comments indent the further lines of a list item', () => {
    expect(wrap('/**', ' * - an item of the wide kind', ' * - another', ' */')).to.deep.equal([
      '/**',
      ' * - an item of the',
      ' *   wide kind',
      ' * - another',
      ' */',
    ]);
  });

  it('Wrapped comments continue a line comment in a second line comment', () => {
    expect(wrap('// A reason of many words here', 'run();')).to.deep.equal([
      '// A reason of many',
      '// words here',
      'run();',
    ]);
  });

  it('Wrapped comments leave code, drawings and long words as they are', () => {
    const lines = ["const text = 'a text that is wide enough';", '/**', ' *   first ─► second ─► third', ' */'];
    expect(wrap(...lines, '// https://example.org/a/long/path')).to.deep.equal([
      ...lines,
      '// https://example.org/a/long/path',
    ]);
  });
});
