/** Which archive a location means. */
import type { Archive } from './archive.ts';
import { FolderArchive } from './folder.ts';
import { S3Archive } from './s3.ts';

/**
 * The archive at a location: "/a/folder", or "s3://bucket/prefix" with the access that the environment gives.
 * @throws Error when the location, or the environment for it, says nothing usable.
 */
export function openArchive(location: string, env: NodeJS.ProcessEnv): Archive {
  if (location.startsWith('s3://')) return S3Archive.fromEnvironment(location, env);
  if (location.startsWith('/')) return new FolderArchive(location);
  throw new Error(`the archive "${location}" is neither an absolute folder nor s3://bucket/prefix`);
}
