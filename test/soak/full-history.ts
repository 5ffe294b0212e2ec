/**
 * A history that has reached its limit, as after months of life: the newest events in etcd, sealed
 * segments up to the limit of the archive, and older events dropped.
 */
import { call, connect } from '../../lib/grpc/client.ts';
import { loadTls } from '../../lib/tls/credentials.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { LedgerOfFaults } from '../faults/fault-environment.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import type { Run } from '../harness/run.ts';
import type { ArchiveSettings } from '../harness/services.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';
import { join } from 'node:path';

const concurrency = 32;
const podsPerLook = 500;
const provider = 'history.default';

/** A small archive in etcd, and signed checkpoints. */
export async function smallArchive(run: Run): Promise<ArchiveSettings> {
  const key = join(run.folder, 'checkpoint-key');
  await runIpledger(['checkpoint-key', key]);
  return {
    location: 'etcd:',
    keepEvents: 1_000,
    segmentEvents: 500,
    env: {
      IPLEDGER_ARCHIVE_MAX_BYTES: String(2 ** 20),
      IPLEDGER_CHECKPOINT_KEY: key,
      IPLEDGER_CHECKPOINT_EVERY: '30',
    },
  };
}

/** Allocates and releases until the oldest events were dropped. Returns the number of events. */
export async function fillHistory({ allocators, certificates }: LedgerOfFaults): Promise<number> {
  const endpoints = allocators.map(({ endpoint }) => endpoint).join();
  const client = connect(endpoints, certificates && loadTls(certificates.operator('test')));
  const options = { timeoutMs: 60_000 };
  try {
    const spec = { cidrBlock: '172.17.0.0/24', provider, cooldownMs: 0 };
    await eventually(() => call(client, SubnetsService.applySubnet, { name: 'history', spec }, options));
    for (let round = 0; ; round++) {
      const names = Array.from({ length: podsPerLook }, (_, index) => `past-${round}-${index}`);
      await forEachConcurrent(names, concurrency, async (name) => {
        const pod = { namespace: 'default', name, uid: `uid-${name}` };
        await call(client, IpamService.allocate, { pod, attachments: [{ provider, subnets: ['history'] }] }, options);
        const cause = 'RELEASE_CAUSE_POD_DELETED';
        await call(client, IpamService.release, { namespace: 'default', pod: name, podUid: pod.uid, cause }, options);
      });
      const { oldestSeq, position } = await call(client, LedgerService.getStatus, {}, options);
      if (oldestSeq > 1) return position?.seq ?? 0;
    }
  } finally {
    client.close();
  }
}
