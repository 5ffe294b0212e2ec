/** CNI ADD, one at a time and concurrent, with the durable bind; and the memory of an agent at rest. */
import { residentMiB } from '../../../scale/resource-usage.ts';
import type { BenchGroup, BenchOptions } from '../../bench-row.ts';
import { alternate, createMeasurement, measureTime, median, type Measurement } from '../../measurement.ts';
import { type AddEnvironment, node, openAddEnvironment } from './add-environment.ts';
import { type AcknowledgedAdd, addHostLocal, addOurs, addStatic } from './plugin-calls.ts';

const addsPerRound = { smoke: 2, normal: 40, long: 200 };
/** The names of the rows, and their concurrent ADDs. */
const concurrent = { 'add-50': 50, 'add-200': 200 } as const;
const concurrentSmoke = 5;

export const addRows: BenchGroup = {
  rows: ['rss', 'add', 'add-50', 'add-200'],
  async measure(options) {
    const { run, rows, size, record } = options;
    const environment = await openAddEnvironment(run);
    const acknowledged: AcknowledgedAdd[] = [];
    if (rows.has('rss')) record(await measureRestingMemory(environment, options));
    if (rows.has('add')) record(await measureSingleAdds(environment, acknowledged, options));
    for (const [name, count] of Object.entries(concurrent)) {
      if (!rows.has(name)) continue;
      const adds = size === 'smoke' ? concurrentSmoke : count;
      record(await measureConcurrentAdds(environment, acknowledged, { ...options, name, adds }));
    }
    await compareWithLedger(environment, acknowledged);
  },
};

/** An agent that has started, and has answered nothing yet. */
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
): Promise<Measurement> {
  const adds = addsPerRound[size];
  const { ours, floor } = await alternate(
    rounds,
    async () => {
      const pods = await environment.allocate(adds);
      return medianOfEach(pods, async (pod) => void acknowledged.push(await addOurs(environment, pod)));
    },
    () =>
      medianOfEach(
        Array.from({ length: adds }, (_, index) => `static-${index}`),
        addStatic,
      ),
  );
  return createMeasurement({ name: 'add', what: 'ms from exec to result', ours, floor, goal: { atMost: 3 } });
}

/** Runs `work` for one name after the other, and returns the median of the durations in milliseconds. */
async function medianOfEach(names: readonly string[], work: (name: string) => Promise<unknown>): Promise<number> {
  const durations: number[] = [];
  for (const name of names) durations.push((await measureTime(() => work(name))).ms);
  return median(durations);
}

async function measureConcurrentAdds(
  environment: AddEnvironment,
  acknowledged: AcknowledgedAdd[],
  { rounds, name, adds }: BenchOptions & { readonly name: string; readonly adds: number },
): Promise<Measurement> {
  const { ours, floor } = await alternate(
    rounds,
    async () => {
      const pods = await environment.allocate(adds);
      const { ms, result } = await measureTime(() => Promise.all(pods.map((pod) => addOurs(environment, pod))));
      acknowledged.push(...result);
      return ms;
    },
    async (round) => {
      const names = Array.from({ length: adds }, (_, index) => `${name}-${round}-${index}`);
      return (await measureTime(() => Promise.all(names.map((each) => addHostLocal(environment, each))))).ms;
    },
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
