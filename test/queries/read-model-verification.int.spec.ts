/** The background verification of the read model, on events of each schema version. */
import { join } from 'node:path';
import { expect } from 'chai';
import { readExportLines } from '../../cli/export-file/read-lines.ts';
import { eventVersions } from '../../ledger/domain/events/schema-version.ts';
import { replay } from '../../ledger/log/reader/replay.ts';
import { MemoryLedger } from '../../ledger/log/testing/memory-ledger.ts';
import { never } from '../../ledger/log/testing/running-writer.ts';
import { serveAllocator } from '../../services/allocator/grpc/testing/served-allocator.ts';
import { verifyStore } from '../../services/read-model/store/verify-store.ts';
import { temporaryFile } from '../../services/read-model/testing/fake-events.ts';
import { buildReadModel } from './build-read-model.ts';

describe('The verification of a read model', () => {
  for (const version of eventVersions)
    it(`The verification of a read model finds nothing in events of schema version ${version}`, async () => {
      const golden = join(import.meta.dirname, `../golden/events-v${version}.ndjson`);
      const memory = new MemoryLedger();
      await replay(memory, readExportLines(golden), { signal: never });
      await using served = await serveAllocator(memory);
      const place = temporaryFile();
      const model = await buildReadModel(served, place.file);
      expect([...verifyStore(model.store, `${place.file}-verification`)]).to.have.length.above(0);
      model.close();
      place.remove();
    });
});
