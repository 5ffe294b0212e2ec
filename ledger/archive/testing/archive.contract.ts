/** The contract that every archive must meet. */
import { expect } from 'chai';
import { failureOf, never } from '../../log/testing/running-writer.ts';
import type { Archive } from '../archive.ts';

/** @param open returns an archive without files. */
export function describeArchive(title: string, open: () => Promise<Archive> | Archive): void {
  describe(title, () => {
    let archive: Archive;
    before(async () => {
      archive = await open();
    });

    it('An archive returns a stored file, also after it was stored again', async () => {
      const content = Buffer.from([0, 255, 10, 128]);
      await archive.put('ledger/one.events', content, never);
      await archive.put('ledger/one.events', content, never);
      expect(await archive.get('ledger/one.events', 4, never)).to.deep.equal(content);
    });

    it("An archive returns undefined for a missing file, even if its name is the beginning of another file's name", async () => {
      await archive.put('ledger/two.events', Buffer.from('two'), never);
      expect(await archive.get('ledger/three.events', 1_024, never)).to.equal(undefined);
      expect(await archive.get('ledger/two', 1_024, never)).to.equal(undefined);
    });

    it('An archive stores several megabytes byte by byte', async function () {
      this.timeout(60_000);
      const content = Buffer.alloc(
        (9 << 20) + 1,
        Uint8Array.from({ length: 251 }, (_, index) => index),
      );
      await archive.put('ledger/large', content, never);
      expect((await archive.get('ledger/large', content.length, never))?.equals(content)).to.equal(true);
    });

    it('An archive rejects a file that is larger than the caller accepts', async () => {
      await archive.put('ledger/four', Buffer.alloc(100_000), never);
      expect((await failureOf(archive.get('ledger/four', 99_999, never))).code).to.equal('LEDGER_DAMAGED');
    });

    it('An archive stops an operation when its signal is aborted', async () => {
      const aborted = AbortSignal.abort();
      expect(await failureOf(archive.put('ledger/five', Buffer.from('five'), aborted))).to.have.property(
        'name',
        'AbortError',
      );
      expect(await failureOf(archive.get('ledger/one.events', 4, aborted))).to.have.property('name', 'AbortError');
    });
  });
}
