/** Rows about CNI ADD with the durable bind, and about the memory of an agent at rest. */
import { residentMiB } from '../../../scale/resource-usage.ts';
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { alternate, createMeasurement, type Goal, median, type Measurement } from '../../measurement.ts';
import { type AddEnvironment, node, openAddEnvironment } from './add-environment.ts';
import { type AddParts, measureAddParts } from './add-parts.ts';
import { type AcknowledgedAdd, addHostLocal, addOurs, addStatic, podNames } from './plugin-calls.ts';
import { measurePeer } from './peer-rows.ts';

const addsPerRound = { smoke: 2, normal: 40, long: 200 };
/** The names of the rows, and their concurrent ADDs. */
const concurrent = { 'add-50': 50, 'add-200': 200 } as const;
const concurrentSmoke = 5;

export const addRows: BenchGroup = {
  rows: ['rss', 'add', 'add-50', 'add-200'],
  longRows: ['whereabouts'],
  async measure(options) {
    const { run, rows, size, record } = options;
    const environment = await openAddEnvironment(run);
    const acknowledged: AcknowledgedAdd[] = [];
    if (rows.has('rss')) record(await measureRestingMemory(environment, options));
    if (rows.has('add')) for (const each of await measureSingleAdds(environment, acknowledged, options)) record(each);
    for (const [name, count] of Object.entries(concurrent)) {
      if (!rows.has(name)) continue;
      const adds = size === 'smoke' ? concurrentSmoke : count;
      record(await measureConcurrentAdds(environment, acknowledged, { ...options, name, adds }));
    }
    if (rows.has('whereabouts')) for (const each of await measurePeer(environment, acknowledged, options)) record(each);
    await compareWithLedger(environment, acknowledged);
  },
};

/** Measures an agent that has started, and has answered nothing yet. */
async function measureRestingMemory({ agent }: AddEnvironment, { rounds }: BenchOptions): Promise<Measurement> {
  const ours: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await agent.restart();
    ours.push(residentMiB(agent.pid));
  }
  return createMeasurement({ name: 'rss agent', what: 'MiB resident at rest', ours, goal: { atMost: 60 } });
}

async function measureSingleAdds(
  environment: AddEnvironment,
  acknowledged: AcknowledgedAdd[],
  { rounds, size }: BenchOptions,
): Promise<Measurement[]> {
  const adds = addsPerRound[size];
  const add = addOurs(environment);
  const { ours, floor } = await alternate(
    rounds,
    async () => {
      const { each } = await add(await environment.allocate(adds));
      acknowledged.push(...each);
      return medianMs(each);
    },
    async () => medianMs((await addStatic(environment)(podNames('static', adds))).each),
  );
  const parts: AddParts[] = [];
  for (let round = 0; round < rounds; round++) parts.push(await measureAddParts(environment, adds));
  const valuesOf = (name: keyof AddParts): number[] => parts.map((each) => each[name]);
  const besideStatic = { floor: valuesOf('floor') };
  const part = (name: 'exec' | 'socket' | 'attach', what: string, goal: Goal, beside = {}): Measurement =>
    createMeasurement({ name: `add ${name}`, what, ours: valuesOf(name), ...beside, goal });
  return [
    createMeasurement({ name: 'add', what: 'ms from exec to result', ours, floor, goal: { atMost: 3 } }),
    part('exec', 'ms of VERSION', { atMost: 1.2 }, besideStatic),
    part('socket', 'ms of an ADD that is answered at once', { atMost: 1.6 }, besideStatic),
    part('attach', 'ms of Attach', { atMost: 2.5 }),
  ];
}

const medianMs = (adds: readonly AcknowledgedAdd[]): number => median(adds.map(({ ms }) => ms));

async function measureConcurrentAdds(
  environment: AddEnvironment,
  acknowledged: AcknowledgedAdd[],
  { rounds, name, adds }: BenchOptions & { readonly name: string; readonly adds: number },
): Promise<Measurement> {
  const [add, addPeer] = [addOurs(environment), addHostLocal(environment)];
  const { ours, floor } = await alternate(
    rounds,
    async () => {
      const { ms, each } = await add(await environment.allocate(adds), { atOnce: true });
      acknowledged.push(...each);
      return ms;
    },
    async (round) => (await addPeer(podNames(`${name}-${round}`, adds), { atOnce: true })).ms,
  );
  return createMeasurement({ name, what: 'ms until all have a result', ours, floor, goal: { atMost: 1.2 } });
}

/** @throws Error for an ADD whose binding or address the ledger does not have */
async function compareWithLedger(
  { readAllocations }: AddEnvironment,
  acknowledged: readonly AcknowledgedAdd[],
): Promise<void> {
  const allocations = await readAllocations();
  for (const { pod, containerId, address } of acknowledged) {
    const allocation = allocations.get(pod);
    const isBound = allocation?.bindings.some((each) => each.containerId === containerId && each.node === node);
    const hasAddress = allocation?.addresses.some((each) => address.startsWith(`${each.address}/`));
    if (!isBound || !hasAddress)
      throw new Error(`the ADD of ${pod} returned ${address}, and the ledger has ${JSON.stringify(allocation)}`);
  }
}
