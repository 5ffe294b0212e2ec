import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLogger } from './log.ts';

describe('createLogger', () => {
  it('writes lines whose texts move no cursor and turn no direction, and parse to what was logged', () => {
    const lines: string[] = [];
    const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => done(void lines.push(chunk.toString())) });
    const hostile = 'a\u001b[2J\u202e\u009b1m\u2028\u{e0041}b "\\" ä';
    createLogger('spec', stream).error({ pod: hostile, err: new Error(hostile) }, hostile);
    const [line = ''] = lines;
    expect(line.replace(/\n$/, '')).to.match(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
    expect(JSON.parse(line)).to.deep.include({ part: 'spec', pod: hostile, msg: hostile });
  });
});
