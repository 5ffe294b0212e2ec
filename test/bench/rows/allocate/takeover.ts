/**
 * The longest time without an acknowledged Allocate while a standby takes over from a writer that
 * is killed, suspended or stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, connect, type Connection } from '../../../../lib/grpc/client.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../../../ledger/log/store/etcd-ledger.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { isWriter } from '../../../e2e/support/replica-client.ts';
import { startEtcd } from '../../../harness/etcd.ts';
import type { Run } from '../../../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../../../harness/services.ts';
import type { BenchOptions } from '../../bench-row.ts';
import { createMeasurement, type Goal, type Measurement } from '../../measurement.ts';
import { applyBenchSubnet, reconcile } from './allocate-environment.ts';
import { type Acknowledged, addressIn, nextRequest } from './load.ts';

const callers = 16;
/** The time after which a caller tries another replica. */
const attemptMs = 500;
const retryMs = 10;
/** Acknowledged requests before the fault, and after the gap. */
const acknowledgedAround = 200;

interface Fault {
  readonly name: string;
  readonly goal: Goal;
  readonly cause: (writer: AllocatorServer) => Promise<void> | void;
}

/** The faults of the writer, whose lease is 5 s. */
const faults: readonly Fault[] = [
  { name: 'SIGKILL', goal: { atMost: 6 }, cause: (writer) => writer.kill() },
  { name: 'SIGSTOP', goal: { atMost: 6 }, cause: (writer) => writer.freeze() },
  { name: 'SIGTERM', goal: { atMost: 0.2 }, cause: (writer) => writer.stop() },
];

/** Measures a figure for each fault: the median of the rounds, in seconds. */
export async function measureTakeover({ run, rounds, size }: BenchOptions): Promise<Measurement[]> {
  const etcd = await startEtcd(run, { name: 'etcd-takeover' });
  const replicas = await Promise.all(['one', 'other'].map((name) => startAllocator(run, { etcd, name })));
  const client = connectEtcd([etcd.endpoint]);
  run.onEnd(() => client.close());
  const acknowledged: Acknowledged = new Map();
  const connection = connect(replicas.map(({ endpoint }) => endpoint).join(), undefined);
  run.onEnd(() => connection.close());
  await applyBenchSubnet(connection);
  const measurements: Measurement[] = [];
  for (const { name, goal, cause } of size === 'smoke' ? faults.slice(2) : faults) {
    const ours: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const replica of replicas) if (!replica.isAlive) await replica.start();
      const writer = await currentWriter(replicas, run);
      ours.push((await longestGap(connection, acknowledged, () => cause(writer))) / 1_000);
      writer.resume();
    }
    measurements.push(createMeasurement({ name: `takeover ${name}`, what: 'seconds without a reply', ours, goal }));
  }
  await reconcile({ run, ledger: new EtcdLedger(client), acknowledged });
  for (const replica of replicas) await replica.kill();
  return measurements;
}

export async function currentWriter(replicas: readonly AllocatorServer[], { signal }: Run): Promise<AllocatorServer> {
  for (;;) {
    for (const replica of replicas) if (await isWriter(replica)) return replica;
    await sleep(retryMs, undefined, { signal });
  }
}

/**
 * Measures the longest time in milliseconds between two acknowledged requests, while `cause` runs
 * and until replies continue after it.
 */
async function longestGap(
  connection: Connection,
  acknowledged: Acknowledged,
  cause: () => Promise<void> | void,
): Promise<number> {
  let [count, lastAt, longest, isOver] = [0, performance.now(), 0, false];
  let fault: Promise<void> | undefined;
  let countAtFault = Infinity;
  const caller = async (): Promise<void> => {
    while (!isOver) {
      await allocateUntilAcknowledged(connection, acknowledged);
      const now = performance.now();
      longest = Math.max(longest, now - lastAt);
      lastAt = now;
      if (++count === acknowledgedAround) {
        longest = 0;
        // Until its end a stopped writer still serves: fast callers would be done before.
        fault = Promise.resolve(cause()).then(() => void (countAtFault = count));
      }
      isOver = longest > 0 && count >= countAtFault + callers + acknowledgedAround;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  await fault;
  return longest;
}

/**
 * Repeats a request until it is acknowledged: it has one effect. Resolves to its Pod.
 * @throws IpledgerError for a refusal
 */
export async function allocateUntilAcknowledged(connection: Connection, acknowledged: Acknowledged): Promise<string> {
  const { name, request } = nextRequest();
  for (;;)
    try {
      acknowledged.set(
        name,
        addressIn(await call(connection, IpamService.allocate, request, { timeoutMs: attemptMs })),
      );
      return name;
    } catch (error) {
      if (IpledgerError.from(error).kind !== 'transient') throw error;
      await sleep(retryMs);
    }
}
