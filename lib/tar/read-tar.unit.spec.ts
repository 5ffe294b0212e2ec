import { expect } from 'chai';
import fc from 'fast-check';
import { formatTar, tarFile } from './format-tar.ts';
import { readTar } from './read-tar.ts';

const bytes = fc.uint8Array({ maxLength: 2_000, size: 'max' });

describe('readTar', () => {
  it('readTar returns the files that formatTar has written, also with long paths, and no links', () => {
    const long = `${'a'.repeat(90)}/${'b'.repeat(90)}`;
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const link = { path: 'link', mode: 0o777, content: { link: '/etc/passwd' } };
        const files = readTar(
          formatTar([tarFile('x/y', Buffer.from(one)), tarFile(long, Buffer.from(other)), link], 0),
        );
        expect([...files.keys()].toSorted()).to.deep.equal([long, 'x/y'].toSorted());
        expect(files.get('x/y')?.equals(one)).to.equal(true);
      }),
      { numRuns: 20 },
    );
  });

  it('readTar rejects archives that are damaged, incomplete, or of too many entries, and reads no byte beyond them', () => {
    const archive = formatTar([tarFile('a', 'text')], 0);
    const withSize = (size: string): Buffer => {
      const forged = Buffer.from(archive);
      forged.write(size, 124);
      forged.write(' '.repeat(8), 148);
      const sum = forged.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      forged.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
      return forged;
    };
    expect(() => readTar(withSize('77777777777\0'))).to.throw('longer than the archive');
    expect(() => readTar(withSize('-0000000001\0'))).to.throw('not octal');
    expect(() => readTar(archive.subarray(0, 1_024))).to.throw('incomplete');
    expect(() => readTar(Buffer.alloc(100, 65))).to.throw('incomplete');
    expect(() => readTar(Buffer.alloc(5_120, 65))).to.throw('not octal');
    const many = Buffer.concat(Array.from({ length: 10_001 }, () => archive.subarray(0, 1_024)));
    expect(() => readTar(many)).to.throw('more than 10000 entries');
  });

  it('readTar ends with files or with a RangeError for any bytes', () => {
    const archive = formatTar([tarFile('a', 'text'), tarFile('b/c', 'x'.repeat(700))], 0);
    fc.assert(
      fc.property(fc.nat(archive.length - 1), fc.nat(255), fc.nat(archive.length), (at, byte, length) => {
        const forged = Buffer.from(archive);
        forged[at] = byte;
        try {
          readTar(forged.subarray(0, length));
        } catch (error) {
          expect(error).to.be.instanceOf(RangeError);
        }
      }),
    );
  });
});
