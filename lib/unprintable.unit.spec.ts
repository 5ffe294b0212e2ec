import { expect } from 'chai';
import { IpledgerError } from './errors.ts';
import { escapeUnprintable, isPrintable } from './unprintable.ts';

describe('escapeUnprintable', () => {
  it('escapeUnprintable keeps all characters of ordinary text, in any script', () => {
    for (const text of ['', 'Pod default/web: 10.0.0.2', 'Größe, 名前, אבג', 'a — "b" \\ c', '🚀'])
      expect([escapeUnprintable(text), isPrintable(text)]).to.deep.equal([text, true]);
  });

  it('escapeUnprintable escapes characters that move the cursor, change the text direction, break the line or are invisible', () => {
    for (const [text, expected] of [
      ['\u001b[2J', '\\u001b[2J'],
      ['a\r\nb\tc\0', 'a\\u000d\\u000ab\\u0009c\\u0000'],
      ['\u009b1m\u007f', '\\u009b1m\\u007f'],
      ['\u202egnp.exe\u2066', '\\u202egnp.exe\\u2066'],
      ['a\u200b\u2028\u2029\ufeff', 'a\\u200b\\u2028\\u2029\\ufeff'],
      ['\u{e0041}', '\\u{e0041}'],
      ['\ud800', '\\ud800'],
    ] as const) {
      expect(escapeUnprintable(text)).to.equal(expected);
      expect(isPrintable(text)).to.equal(false);
    }
  });

  it('an error message contains line feeds and tabs, but no other control character', () => {
    const { message } = new IpledgerError('INVALID_REQUEST', 'network "a\u001b]0;owned\u0007\u202e":\n\tno such name');
    expect(message).to.equal('network "a\\u001b]0;owned\\u0007\\u202e":\n\tno such name');
  });
});
