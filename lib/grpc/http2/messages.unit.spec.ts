import { expect } from 'chai';
import { frameMessage, readMessages } from './connect.ts';

const maxBytes = 100;

async function read(chunks: readonly Buffer[]): Promise<string[]> {
  const texts: string[] = [];
  for await (const message of readMessages(asStream(chunks), maxBytes)) texts.push(message.toString());
  return texts;
}

// eslint-disable-next-line typescript/require-await
async function* asStream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

const failureOf = (chunks: readonly Buffer[]): Promise<string> =>
  read(chunks).then(
    () => 'no failure',
    (error: unknown) => String(error),
  );

describe('readMessages', () => {
  const texts = ['', 'one', 'x'.repeat(maxBytes), 'two'];
  const bytes = Buffer.concat(texts.map((text) => frameMessage(Buffer.from(text))));

  for (const size of [1, 2, 7, 106, bytes.length])
    it(`readMessages yields the messages of frameMessage when they arrive in chunks of ${size} bytes`, async () => {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      expect(await read(chunks)).to.deep.equal(texts);
    });

  it('readMessages fails before it has read a message that is too long', async () => {
    const prefix = frameMessage(Buffer.alloc(maxBytes + 1)).subarray(0, 5);
    expect(await failureOf([prefix])).to.contain('the reply has 101 bytes, and 100 is the limit');
  });

  it('readMessages fails with a compressed message', async () => {
    const message = frameMessage(Buffer.from('one'));
    message[0] = 1;
    expect(await failureOf([message])).to.contain('compressed');
  });

  it('readMessages fails when a message is truncated', async () => {
    expect(await failureOf([bytes.subarray(0, -1)])).to.contain('the reply was cut off');
  });
});
