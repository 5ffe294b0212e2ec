/** Random faults: what happens to which part, when, and for how long. */
import { addressPrefix, prefixEnd } from '../../../ledger/log/store/keys.ts';
import type { SeededRandom } from '../../faults/seeded-random.ts';
import { calm, type Faults } from '../kernel/faults.ts';
import type { LedgerRun } from './ledger-run.ts';

export interface Fault {
  readonly what: string;
  act(run: LedgerRun): void;
  /** It is a commit of its own. */
  readonly isAtOnce?: boolean;
}

type Target = 'writer' | 'standby' | 'any';

/** A fault, by the random numbers of the plan. */
export function anyFault(random: SeededRandom): Fault {
  const target = random.pick<Target>(['writer', 'writer', 'writer', 'standby', 'any']);
  const ms = random.pick([50, 300, 1_000, 3_000, 7_000]);
  const choice = random.nextInt(1_000);
  const isAtCommit = random.nextBoolean(0.6);
  const fault = random.pick(kinds)({ target, ms, choice, random });
  if (!isAtCommit || fault.isAtOnce) return fault;
  return { what: `${fault.what}, at the next commit`, act: (run) => run.atNextCommit(() => fault.act(run)) };
}

interface Chosen {
  readonly target: Target;
  readonly ms: number;
  /** From 0 to 999. */
  readonly choice: number;
  readonly random: SeededRandom;
}

const crash = ({ target, ms, choice }: Chosen): Fault => ({
  what: `the ${target} crashes, and starts again after ${ms} ms`,
  act: (run) => {
    const name = nameOf(run, target, choice);
    run.cluster.programOf(name)?.crash();
    run.world.after(ms, () => run.cluster.start(name));
  },
});

const stop = ({ target, ms, choice }: Chosen): Fault => ({
  what: `the ${target} is stopped, and starts again after ${ms} ms`,
  act: (run) => run.cluster.stop(nameOf(run, target, choice), ms),
});

const pause = ({ target, ms, choice }: Chosen): Fault => ({
  what: `the ${target} is suspended for ${ms} ms`,
  act: (run) => run.cluster.programOf(nameOf(run, target, choice))?.pauseFor(ms),
});

const cut =
  (from: 'etcd' | 'all') =>
  ({ target, ms, choice }: Chosen): Fault => ({
    what: `the ${target} is cut off from ${from} for ${ms} ms`,
    act: (run) => {
      const { world, cluster } = run;
      const machine = world.machine(nameOf(run, target, choice));
      const heal = cluster.network.cut(machine, from === 'etcd' ? world.machine('etcd') : undefined);
      run.heal.push(heal);
      world.after(ms, heal);
    },
  });

const outage = ({ ms }: Chosen): Fault => ({
  what: `etcd is unreachable for ${ms} ms`,
  act: ({ world, cluster, heal: healing }) => {
    const heal = cluster.network.cut(world.machine('etcd'));
    healing.push(heal);
    world.after(ms, heal);
  },
});

const clock = ({ target, choice, random }: Chosen): Fault => {
  const stepMs = random.pick([-7_200_000, -40_000, -2_000, 2_000, 40_000, 7_200_000]);
  return {
    what: `the clock of the ${target} is set by ${stepMs} ms`,
    act: (run) => run.world.machine(nameOf(run, target, choice)).stepClock(stepMs),
  };
};

const weather = ({ ms, random }: Chosen): Fault => {
  const faults: Faults = random.pick([
    { ...calm, network: { ...calm.network, lose: 0.05 } },
    { ...calm, network: { ...calm.network, reset: 0.2 } },
    { ...calm, network: { ...calm.network, slow: 0.3, maxSlowMs: 400 } },
    { ...calm, network: { lose: 0.03, reset: 0.05, slow: 0.1, maxSlowMs: 3_000 } },
    { ...calm, timers: { late: 0.3, maxLateMs: 2_500 } },
  ]);
  return {
    what: `network and timers have the faults ${JSON.stringify(faults)} for ${ms} ms`,
    act: ({ world }) => {
      world.faults = faults;
      world.after(ms, () => (world.faults = calm));
    },
  };
};

const compact = ({ choice }: Chosen): Fault => ({
  what: `etcd is compacted up to ${choice % 3} revisions ago`,
  act: ({ cluster: { etcd } }) => etcd.compact(etcd.revision - (choice % 3)),
});

/**
 * Another program writes a claim key with the value that it has: the address is fenced, and served
 * again.
 */
const touch = ({ choice }: Chosen): Fault => ({
  what: 'another program writes a claim key again',
  isAtOnce: true,
  act: ({ answers, cluster: { etcd } }) => {
    const claims = etcd.keys(addressPrefix, prefixEnd(addressPrefix));
    const claim = claims[choice % Math.max(1, claims.length)];
    if (!claim) return;
    answers.onFenced(claim.key.slice(addressPrefix.length));
    etcd.put(claim.key, claim.value);
  },
});

const elect = (): Fault => ({ what: 'etcd elects a leader', act: ({ cluster: { etcd } }) => etcd.elect() });

const kinds: readonly ((chosen: Chosen) => Fault)[] = [
  crash,
  crash,
  crash,
  stop,
  pause,
  pause,
  cut('etcd'),
  cut('all'),
  outage,
  clock,
  weather,
  weather,
  weather,
  compact,
  elect,
  touch,
];

/** The name of an allocator that is the target now. */
function nameOf({ cluster, writer }: LedgerRun, target: Target, choice: number): string {
  const { names } = cluster;
  const standbys = names.filter((each) => cluster.programOf(each) !== writer || !writer);
  if (target === 'writer' && writer) return writer.machine.name;
  const among = target === 'standby' && standbys.length > 0 ? standbys : names;
  return among[choice % among.length] as string;
}
