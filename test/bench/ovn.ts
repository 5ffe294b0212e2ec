/**
 * `make bench-ovn`: how long the OVN data path takes to follow a burst of allocations, beside raw
 * transactions of the same rows. Two nodes run ovn-controller.
 */
import { formatTextTable } from '../../cli/output/table.ts';
import { call, connect } from '../../lib/grpc/client.ts';
import { OvsdbClient } from '../../lib/ovsdb/client.ts';
import type { Mutation, Operation } from '../../lib/ovsdb/transaction.ts';
import { IpamService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { startCluster } from '../harness/kubernetes/cluster.ts';
import { type OvnCentral, startOvnCentral } from '../harness/ovn/ovn-central.ts';
import { startOvnNode } from '../harness/ovn/ovn-node.ts';
import { printProgress } from '../harness/progress.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startOvnProjector } from '../harness/services.ts';
import { startLedger } from '../harness/stack.ts';
import { forEachConcurrent } from '../scale/for-each-concurrent.ts';
import { median } from './measurement.ts';

const pods = Number(process.env['PODS'] ?? 1_000);
const rounds = Number(process.env['ROUNDS'] ?? 3);
const concurrency = 64;
const provider = 'bench.default.ovn';
const subnet = 'bench';
const cidrBlock = '10.128.0.0/14';

/** Milliseconds until the rows are in the northbound database, and until all chassis have them. */
interface Times {
  readonly northbound: number;
  readonly chassis: number;
}

/** Follows the logical switch ports of the northbound database. */
function followPorts(run: Run, central: OvnCentral) {
  let waiting: (() => void) | undefined;
  const client = new OvsdbClient({
    endpoints: [central.northbound.unix],
    database: 'OVN_Northbound',
    columns: { Logical_Switch_Port: ['name'] },
    signal: run.signal,
    onChange: () => waiting?.(),
  });
  const count = (): number => client.replica.rows('Logical_Switch_Port').size;
  const waitFor = async (expected: number): Promise<void> => {
    while (count() !== expected) await new Promise<void>((resolve) => (waiting = resolve));
  };
  return { client, count, waitFor };
}

/**
 * Ends `act`, then measures until its rows arrive.
 * @param isWhole whether the time of `act` counts, too
 */
async function measure(
  central: OvnCentral,
  { act, arrive, isWhole }: { act: () => Promise<unknown>; arrive: () => Promise<void>; isWhole: boolean },
): Promise<Times> {
  let startedAt = performance.now();
  await act();
  if (!isWhole) startedAt = performance.now();
  await arrive();
  const northbound = performance.now() - startedAt;
  await central.nbctl(['--wait=hv', 'sync']);
  return { northbound, chassis: performance.now() - startedAt };
}

/** A transaction with the same rows in a switch of another owner. */
function rawRows(from: number): Operation[] {
  const names = Array.from({ length: pods }, (_, index) => `raw_${from + index}`);
  const inserts = names.map((name, index): Operation => {
    const [third, fourth] = [Math.floor(index / 250), (index % 250) + 2];
    const address = `02:00:00:00:${third.toString(16).padStart(2, '0')}:${fourth.toString(16)} 10.200.${third}.${fourth}`;
    return { op: 'insert', table: 'Logical_Switch_Port', row: { name, addresses: new Set([address]) }, uuidName: name };
  });
  const mutations: Mutation[] = [['ports', 'insert', new Set(names.map((uuidName) => ({ uuidName })))]];
  return [...inserts, { op: 'mutate', table: 'Logical_Switch', where: [['name', '==', 'raw']], mutations }];
}

const run = openRun();
try {
  const [cluster, [, allocator], central] = await Promise.all([
    startCluster(run, { nodes: [], controllers: false }),
    startLedger(run),
    startOvnCentral(run),
  ]);
  await Promise.all([1, 2].map((number) => startOvnNode(run, { number, central })));
  await startOvnProjector(run, { allocator, cluster, northbound: central.northbound });
  const connection = connect(allocator.endpoint, undefined);
  run.onEnd(() => connection.close());
  const spec = { provider, cidrBlock, gateway: '10.128.0.1' };
  await call(connection, SubnetsService.applySubnet, { name: subnet, spec }, { timeoutMs: 10_000 });
  await central.nbctl(['ls-add', 'raw']);
  const { client, count, waitFor } = followPorts(run, central);
  await client.ready();

  const allocate = (round: number) =>
    forEachConcurrent(
      Array.from({ length: pods }, (_, index) => index),
      concurrency,
      (index) => {
        const name = `pod-${round}-${index}`;
        const pod = { namespace: 'default', name, uid: name, node: `node-${(index % 2) + 1}` };
        const request = { pod, attachments: [{ provider, subnets: [subnet] }] };
        return call(connection, IpamService.allocate, request, { timeoutMs: 60_000 });
      },
    );
  const [ours, raw]: [Times[], Times[]] = [[], []];
  // The first round warms both sides up.
  for (let round = 0; round <= rounds; round += 1) {
    const before = count();
    const [first, second] = [before + pods, before + 2 * pods];
    const projected = await measure(central, {
      act: () => allocate(round),
      arrive: () => waitFor(first),
      isWhole: false,
    });
    const act = () => client.transact(rawRows(round * pods));
    const written = await measure(central, { act, arrive: () => waitFor(second), isWhole: true });
    printProgress(`round ${round}: ${JSON.stringify({ projected, written })}`);
    if (round > 0) ours.push(projected) && raw.push(written);
  }
  const row = (name: string, pick: (times: Times) => number, goalMs: number): string[] => {
    const [mine, floor] = [median(ours.map(pick)), median(raw.map(pick))];
    const goal = `at most ${goalMs} ms`;
    return [
      name,
      ...[mine, floor].map((ms) => String(Math.round(ms))),
      (mine / floor).toFixed(2),
      goal,
      mine <= goalMs ? 'yes' : 'no',
    ];
  };
  process.stdout.write(
    `\n${pods} Pods, milliseconds after the last allocation; raw: after the start of one transaction\n\n` +
      formatTextTable(
        ['NAME', 'OURS', 'RAW', 'RATIO', 'GOAL', 'MET'],
        [
          row('in the northbound database', ({ northbound }) => northbound, 1_000),
          row('on all chassis', ({ chassis }) => chassis, 5_000),
        ],
      ),
  );
} finally {
  await run.end();
}
