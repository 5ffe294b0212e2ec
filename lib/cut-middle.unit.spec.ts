import { expect } from 'chai';
import { cutMiddle, truncateUtf8 } from './cut-middle.ts';

describe('cutMiddle', () => {
  it('cutMiddle keeps a text that fits', () => {
    expect(cutMiddle('é'.repeat(5), 10)).to.equal('é'.repeat(5));
  });

  it('cutMiddle keeps the beginning and the end of a longer text', () => {
    const text = `what failed: ${'x'.repeat(1_000)}. Run this`;
    const cut = cutMiddle(text, 100);
    expect(cut).to.match(/^what failed: x+ … x+\. Run this$/);
    expect(Buffer.byteLength(cut)).to.equal(100);
  });

  it('cutMiddle never splits a character, at any length', () => {
    for (const text of ['é'.repeat(200), '🦜'.repeat(100), `a${'語'.repeat(100)}`])
      for (let maxBytes = 5; maxBytes < 60; maxBytes++) {
        const cut = cutMiddle(text, maxBytes);
        expect(cut).to.not.contain('\ufffd');
        expect(Buffer.byteLength(cut)).to.be.within(maxBytes - 6, maxBytes);
      }
  });
});

describe('truncateUtf8', () => {
  it('truncateUtf8 keeps a text that fits, and truncates between characters', () => {
    expect(truncateUtf8('é'.repeat(5), 10)).to.equal('é'.repeat(5));
    expect(truncateUtf8('é'.repeat(6), 10)).to.equal('ééé…');
  });
});
