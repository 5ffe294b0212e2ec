/**
 * Starts an S3 object store on loopback. It checks signatures and stores objects as files of the
 * run.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from './processes/launch.ts';
import { findFreePort } from './processes/free-ports.ts';
import { findProgram } from './programs/find-program.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './processes/server.ts';

export interface ObjectStore extends Server {
  /** Name of an existing bucket. */
  readonly bucket: string;
  /** Folder of the objects in the bucket. */
  readonly folder: string;
  /** Environment variables with which an allocator uses the store. */
  readonly env: Readonly<Record<string, string>>;
}

const accessKey = 'ipledger';

/** Starts a store with an empty bucket. */
export async function startObjectStore(run: Run): Promise<ObjectStore> {
  const [bucket, secret] = ['archive', `secret-${run.id}`];
  const root = join(run.folder, 's3');
  const folder = join(root, bucket);
  const metadata = join(run.folder, 'metadata');
  for (const each of [folder, metadata]) mkdirSync(each, { recursive: true });
  const listen = `127.0.0.1:${await findFreePort()}`;
  const endpoint = `http://${listen}`;
  const launch: Launch = {
    name: 's3',
    program: await findProgram('versitygw', run.signal),
    // A sidecar folder for metadata, because some file systems have no extended attributes
    args: [
      '--port',
      listen,
      '--access',
      accessKey,
      '--secret',
      secret,
      '--quiet',
      'posix',
      '--sidecar',
      metadata,
      root,
    ],
    ready: async (signal) => {
      // An answer to an unsigned request, also a rejection, shows that the store serves
      await (await fetch(endpoint, { signal })).arrayBuffer();
    },
    readyWithinMs: 120_000,
  };
  const env = {
    IPLEDGER_ARCHIVE_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: accessKey,
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_REGION: 'us-east-1',
  };
  return Object.assign(await startServer(run, launch), { bucket, folder, env });
}
