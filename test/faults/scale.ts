/**
 * How much of it: as a part of `make test` these suites are small; `make chaos` runs the same ones long, with other dice in
 * each round.
 */
const long = process.env['CHAOS'] === '1';

function rounds(): number {
  const asked = process.env['ROUNDS'] ?? '';
  if (asked === '') return long ? 5 : 1;
  if (!/^[1-9]\d{0,5}$/.test(asked)) throw new Error(`ROUNDS is "${asked}": want a number from 1`);
  return Number(asked);
}

export const scale = {
  /** How often what follows from dice is done. */
  rounds: rounds(),
  /** Pods that come and go while parts are killed. */
  pods: 200,
  /** Pods that come and go on a bad network. */
  podsOnBadNetwork: long ? 200 : 60,
  /** How many kills there are meanwhile. */
  kills: long ? 50 : 12,
  /** How long a part is away. */
  awayMs: long ? 60_000 : 15_000,
  /** Pods that complete while nobody watches. */
  completed: long ? 5_000 : 500,
  /** Events in the log through which readers page while it is compacted. */
  events: long ? 20_000 : 6_000,
  /** Nothing here is measured: this only ends what hangs. */
  timeoutMs: long ? 30 * 60_000 : 10 * 60_000,
  /** How long all may take to agree again. A watcher's Lease and a left DEL take some of it. */
  patienceMs: long ? 5 * 60_000 : 3 * 60_000,
};

/** For the title of a test. */
export const inRound = (round: number): string => (scale.rounds > 1 ? ` (round ${round})` : '');
