/** Opens the archive at a location. */
import type { Archive } from './archive.ts';
import { FolderArchive } from './folder-archive.ts';
import { S3Archive } from './s3-archive.ts';

/**
 * The archive at a location: "/a/folder", or "s3://bucket/prefix" with the access that the environment gives.
 * @throws Error when the location is not valid, or its environment variables are missing.
 */
export function openArchive(location: string, env: NodeJS.ProcessEnv): Archive {
  if (location.startsWith('s3://')) return S3Archive.fromEnvironment(location, env);
  if (location.startsWith('/')) return new FolderArchive(location);
  throw new Error(`the archive "${location}" is not supported: use /a/folder or s3://bucket/prefix`);
}
