/**
 * The size of the fault and scale tests: small in `make test`, large in `make chaos` (CHAOS=1),
 * with other random choices in each round.
 */
const isLong = process.env['CHAOS'] === '1';

/** @throws Error when ROUNDS is not a number from 1. */
function readRounds(): number {
  const value = process.env['ROUNDS'] ?? '';
  if (value === '') return isLong ? 5 : 1;
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new Error(`ROUNDS is "${value}": set a number from 1`);
  return Number(value);
}

export const testSize = {
  /** Rounds of each random test. */
  rounds: readRounds(),
  /** Pods that are created and deleted while processes are killed. */
  pods: isLong ? 200 : 80,
  /** Pods that are created and deleted on a faulty network. */
  podsOnFaultyNetwork: isLong ? 200 : 40,
  /** Kills during that time. */
  kills: isLong ? 50 : 10,
  /** Duration of an outage: longer than each lease. */
  awayMs: isLong ? 60_000 : 15_000,
  /** Pods that complete while no watcher runs. */
  completed: isLong ? 5_000 : 150,
  /** Events in the log that readers page through during compaction. */
  events: isLong ? 20_000 : 3_000,
  /** Events that pass through etcd while old ones are sealed. */
  sealedEvents: Number(process.env['EVENTS'] ?? (isLong ? 100_000 : 10_000)),
  /**
   * Events in the history for queries and the read model: more than one search of the allocator
   * reads.
   */
  historyEvents: isLong ? 100_000 : 25_000,
  /** Prefix length of the subnet that is filled to its last address. */
  subnetPrefix: isLong ? 16 : 18,
  /** Pods that are created at the same time, their networks, and the rounds. */
  podBursts: [
    { count: isLong ? 1_000 : 200, networks: ['lan'], rounds: isLong ? 3 : 2 },
    { count: isLong ? 5_000 : 500, networks: ['lan', 'san', 'wan'], rounds: 1 },
  ],
  /** The time after which a test counts as hanging. */
  timeoutMs: isLong ? 30 * 60_000 : 10 * 60_000,
  /** The time until all views agree, of which a watcher's Lease and a pending DEL take a part. */
  patienceMs: isLong ? 5 * 60_000 : 3 * 60_000,
};

/** The end of a test title when there are several rounds. */
export const roundSuffix = (round: number): string => (testSize.rounds > 1 ? ` (round ${round})` : '');
