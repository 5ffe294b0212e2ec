import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLogger } from './log.ts';

describe('createLogger', () => {
  it('createLogger escapes characters that control a terminal or the text direction, and the lines parse to the logged values', () => {
    const lines: string[] = [];
    const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void lines.push(chunk.toString())) });
    const hostile = 'a\u001b[2J\u202e\u009b1m\u2028\u{e0041}b "\\" ä';
    createLogger('spec', stream).error({ pod: hostile, err: new Error(hostile) }, hostile);
    const [line = ''] = lines;
    expect(line.replace(/\n$/, '')).to.match(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
    expect(JSON.parse(line)).to.deep.include({ part: 'spec', pod: hostile, msg: hostile });
  });
});
