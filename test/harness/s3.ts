/** An object store that speaks S3 and checks signatures, on loopback; its objects are files of the run. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from './launch.ts';
import { freePort } from './ports.ts';
import { findProgram } from './programs.ts';
import type { Run } from './run.ts';
import { type Server, startServer } from './server.ts';

export interface ObjectStore extends Server {
  /** Of a bucket that is there. */
  readonly bucket: string;
  /** The folder that the bucket's objects are in. */
  readonly folder: string;
  /** What an allocator has to be told to reach it. */
  readonly env: Readonly<Record<string, string>>;
}

const accessKey = 'ipledger';

/** Starts one with an empty bucket. */
export async function startObjectStore(run: Run): Promise<ObjectStore> {
  const [bucket, secret] = ['archive', `secret-${run.id}`];
  const root = join(run.folder, 's3');
  const folder = join(root, bucket);
  const metadata = join(run.folder, 'metadata');
  for (const each of [folder, metadata]) mkdirSync(each, { recursive: true });
  const listen = `127.0.0.1:${await freePort()}`;
  const endpoint = `http://${listen}`;
  const launch: Launch = {
    name: 's3',
    program: await findProgram('versitygw', run.signal),
    // Metadata beside the objects: not every file system keeps extended attributes.
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
      // It has nothing to say to strangers, but says that.
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
