/** Opens the archive at a location, and the ledger that uses it. */
import type { Etcd3 } from 'etcd3';
import type { Ledger, SealedLog } from '../log/store/ledger.ts';
import type { Archive } from './archive.ts';
import { ArchivedLedger } from './archived-ledger.ts';
import { EtcdArchive } from './etcd-archive.ts';
import { FolderArchive } from './folder-archive.ts';
import { S3Archive } from './s3-archive.ts';

/**
 * The etcd of the ledger, and the bytes that an archive in it may take (default: no limit, for
 * readers).
 */
interface ArchiveEtcd {
  readonly client: Etcd3;
  readonly maxBytes?: number;
}

/** An archive, and the ledger that reads sealed events in it. */
export interface Archived {
  readonly archive: Archive;
  readonly ledger: ArchivedLedger;
}

/**
 * Opens the archive at a location: "/a/folder", "s3://bucket/prefix" with the credentials of the
 * environment, or "etcd:". Returns undefined for ''.
 * @throws Error if the location is not valid, or its environment variables are missing.
 */
export function openArchived(
  live: Ledger & SealedLog,
  location: string,
  env: NodeJS.ProcessEnv,
  etcd: ArchiveEtcd,
): Archived | undefined {
  if (location === '') return undefined;
  const archive = openArchive(location, env, etcd);
  return { archive, ledger: new ArchivedLedger(live, archive) };
}

function openArchive(location: string, env: NodeJS.ProcessEnv, { client, maxBytes }: ArchiveEtcd): Archive {
  if (location === 'etcd:') return new EtcdArchive(client, maxBytes);
  if (location.startsWith('s3://')) return withEtcd(S3Archive.fromEnvironment(location, env), client);
  if (location.startsWith('/')) return withEtcd(new FolderArchive(location), client);
  throw new Error(`the archive "${location}" is not supported: use /a/folder, s3://bucket/prefix or etcd:`);
}

/** Falls back to etcd, so that files which were sealed into etcd stay readable. */
function withEtcd(archive: Archive, client: Etcd3): Archive {
  const before = new EtcdArchive(client);
  return {
    location: archive.location,
    put: (name, content, signal) => archive.put(name, content, signal),
    get: async (name, maxBytes, signal) =>
      (await archive.get(name, maxBytes, signal)) ?? before.get(name, maxBytes, signal),
  };
}
