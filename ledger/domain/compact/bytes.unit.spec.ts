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
});
