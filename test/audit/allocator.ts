/** An allocator that signs checkpoints, every second. */
import { join } from 'node:path';
import { generateKey } from '../../services/allocator/checkpoint/key.ts';
import { writeFileSync } from 'node:fs';
import type { Etcd } from '../harness/etcd.ts';
import { freePort } from '../harness/ports.ts';
import type { Run } from '../harness/run.ts';
import { type Server, startServer } from '../harness/server.ts';
import { allocatorLaunch } from '../harness/services.ts';

export interface Signing extends Server {
  readonly endpoint: string;
  /** Where its key lies, and where its checkpoints go. */
  readonly keyFile: string;
  readonly checkpoints: string;
  /** What they are verified with. */
  readonly verifier: string;
}

/** Starts it, with a key of its own. */
export async function startSigning(run: Run, etcd: Etcd): Promise<Signing> {
  const endpoint = `127.0.0.1:${await freePort()}`;
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
