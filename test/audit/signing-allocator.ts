/** An allocator that signs a checkpoint every second. */
import { join } from 'node:path';
import { generateKey } from '../../ledger/audit/checkpoints/signing-key.ts';
import { writeFileSync } from 'node:fs';
import type { Etcd } from '../harness/etcd.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import type { Run } from '../harness/run.ts';
import { type Server, startServer } from '../harness/processes/server.ts';
import { allocatorLaunch } from '../harness/services.ts';

export interface SigningAllocator extends Server {
  readonly endpoint: string;
  /** The files of its key and its checkpoints. */
  readonly keyFile: string;
  readonly checkpoints: string;
  /** The key that verifies the checkpoints. */
  readonly verifier: string;
}

/** Starts the allocator with a new key. */
export async function startSigningAllocator(run: Run, etcd: Etcd): Promise<SigningAllocator> {
  const endpoint = `127.0.0.1:${await findFreePort()}`;
  const [keyFile, checkpoints] = [join(run.folder, 'checkpoint.key'), join(run.folder, 'checkpoints')];
  const { signer, verifier } = generateKey('audit.example/ledger');
  writeFileSync(keyFile, `${signer}\n`);
  const launch = allocatorLaunch({ name: 'allocator', etcd: [etcd.endpoint], listen: endpoint });
  const env = {
    ...launch.env,
    IPLEDGER_CHECKPOINT_KEY: keyFile,
    IPLEDGER_CHECKPOINT_FILE: checkpoints,
    IPLEDGER_CHECKPOINT_EVERY: '0.2',
  };
  return Object.assign(await startServer(run, { ...launch, env }), { endpoint, keyFile, checkpoints, verifier });
}
