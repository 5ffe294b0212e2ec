import { rmSync } from 'node:fs';
import { FolderArchive } from './folder-archive.ts';
import { describeArchive } from './testing/archive.contract.ts';
import { createArchiveFolder } from './testing/sealed-ledger.ts';

describe('An archive in a folder', () => {
  const folder = createArchiveFolder();
  after(() => rmSync(folder, { recursive: true }));

  describeArchive('keeps the contract of an archive', () => new FolderArchive(folder));
});
