// Deletes all but the newest backups: node delete-old-backups.mjs FOLDER KEEP
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const [folder, keep] = process.argv.slice(2);
const newestFirst = readdirSync(folder)
  .filter((name) => name.startsWith('ipledger-etcd-backup-') && name.endsWith('.db'))
  .map((name) => ({ file: join(folder, name), at: statSync(join(folder, name)).mtimeMs }))
  .sort((a, b) => b.at - a.at);
for (const { file } of newestFirst.slice(Number(keep))) {
  rmSync(file);
  console.log(`deleted ${file}`);
}
