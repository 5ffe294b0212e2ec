import { expect } from 'chai';
import { ByteReader, ByteWriter } from './bytes.ts';

describe('ByteWriter', () => {
  const writer = new ByteWriter();
  const reader = new ByteReader();

  for (const [address, size] of [
    ['10.8.0.2', 5],
    ['255.255.255.255', 5],
    ['fd00::2', 9],
    ['256.1.1.1', 11],
    ['10.8.0.02', 11],
    ['10.8.0', 8],
    ['10.8.0.2.1', 12],
  ] as const)
    it(`ByteWriter packs the address ${address} into ${size} bytes, and ByteReader returns the same text`, () => {
      writer.address(address);
      const bytes = writer.take();
      expect(bytes).to.have.length(size);
      reader.open(bytes);
      expect(reader.address()).to.equal(address);
    });

  for (const [kind, text, size] of [
    ['a uid', '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9', 18],
    ['a MAC', '0a:1b:2c:3d:4e:5f', 8],
    ['hexadecimal digits', '0a1b2c3d4e5f6071', 10],
    ['a short text', 'eth0', 5],
    ['a text with other characters', 'Zürich → Genève', 31],
  ] as const)
    it(`ByteWriter packs ${kind} into ${size} bytes, and ByteReader returns the same text`, () => {
      writer.text(text);
      const bytes = writer.take();
      expect(bytes).to.have.length(size);
      reader.open(bytes);
      expect(reader.text()).to.equal(text);
    });

  it('ByteReader returns each whole number up to 2^53 - 1, and differences of either sign', () => {
    const numbers = [0, 1, 127, 128, 129, 255, 16_383, 16_384, 2 ** 32, 2 ** 48, Number.MAX_SAFE_INTEGER];
    const differences = [0, 1, -1, 63, 64, -64, -65, 2 ** 52 - 1, 1 - 2 ** 52];
    // Many, so that the writer has to grow
    const repeated = Array.from({ length: 100 }, () => numbers).flat();
    for (const each of repeated) writer.number(each);
    for (const each of differences) writer.difference(each);
    reader.open(writer.take());
    expect(repeated.map(() => reader.number())).to.deep.equal(repeated);
    expect(differences.map(() => reader.difference())).to.deep.equal(differences);
    for (const other of [-1, 0.5, NaN, Infinity, 2 ** 53]) expect(() => writer.number(other)).to.throw(TypeError);
  });

  it('ByteReader throws if the bytes end before or within a number, also after longer bytes', () => {
    reader.open('\u0001'.repeat(20));
    for (const bytes of ['', '\u0080', '\u0080'.repeat(9)]) {
      reader.open(bytes);
      expect(() => reader.number()).to.throw(RangeError, 'the bytes end before or within a number');
    }
  });

  it('ByteWriter grows for long texts and appended bytes, and openFirst reads the numbers at their beginning', () => {
    const [long, wide, bytes] = ['x'.repeat(3_000), 'ä→'.repeat(3_000), String.fromCharCode(1, 255).repeat(9_000)];
    writer.number(Number.MAX_SAFE_INTEGER);
    writer.number(7);
    for (const text of [long, wide, long]) writer.text(text);
    const start = writer.take();
    writer.append(start);
    writer.append(bytes);
    const all = writer.take();
    expect(all).to.equal(start + bytes);
    reader.openFirst(all);
    expect([reader.number(), reader.number()]).to.deep.equal([Number.MAX_SAFE_INTEGER, 7]);
    reader.open(all);
    expect([reader.number(), reader.number(), reader.text(), reader.text(), reader.text()]).to.deep.equal([
      Number.MAX_SAFE_INTEGER,
      7,
      long,
      wide,
      long,
    ]);
  });

  it('ByteReader returns each text that differs in one character from a uid, a MAC or hexadecimal digits', () => {
    const texts = ['0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9', '0a:1b:2c:3d:4e:5f', '0a1b2c3d4e5f6071'];
    for (const text of texts)
      for (let index = 0; index < text.length; index++)
        for (const other of ['A', 'g', '/', '-', ':', '\u007f', '\u0080', '\u00ff', '\u0100']) {
          const changed = text.slice(0, index) + other + text.slice(index + 1);
          writer.text(changed);
          reader.open(writer.take());
          expect(reader.text()).to.equal(changed);
        }
  });
});
