/** Tests projectors on a real northbound database. */
import { expect } from 'chai';
import { logicalPortName } from '../../lib/ovn/names.ts';
import type { Operation } from '../../lib/ovsdb/transaction.ts';
import { areEqual } from '../../lib/ovsdb/values.ts';
import { formatFence } from './fence.ts';
import { Deposed } from './projector.ts';
import { DesiredRows } from './rows/desired-rows.ts';
import { type DesiredPort, ownerIds } from './rows/desired-row.ts';
import {
  type ConnectedView,
  connectView,
  type NorthboundServer,
  runProjector,
  startNorthbound,
} from './testing/northbound-server.ts';
import { allocationOf, rowInputs, settingsOf, subnetNamed, testLedger } from './testing/row-inputs.ts';

describe('A projector', function () {
  this.timeout(60_000);
  let northbound: NorthboundServer;
  let stop: AbortController;
  let connected: ConnectedView;

  before(async function () {
    northbound = await startNorthbound(this);
  });
  after(() => northbound?.run.end());
  beforeEach(async () => {
    const { server } = northbound;
    await server.stop();
    await server.recreate();
    await server.start();
    stop = new AbortController();
    connected = await connectView(server, stop.signal);
  });
  afterEach(() => stop.abort());

  const pods = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      allocationOf(`pod-${index}`, { seq: index + 1, mac: `0a:00:00:00:${hex(index >> 8)}:${hex(index)}` }),
    );
  const hex = (value: number): string => (value & 0xff).toString(16).padStart(2, '0');
  const inputsOf = (count: number) => rowInputs({ subnets: [subnetNamed('lan')], allocations: pods(count) });
  const countPorts = ({ view }: ConnectedView): number => view.ownedNames('Logical_Switch_Port').length;
  const fenceIn = ({ view }: ConnectedView): unknown =>
    (view.global?.row['external_ids'] as ReadonlyMap<string, string> | undefined)?.get('ipledger');
  /** Replaces the fence, as another program would. */
  const setFence = async (value: string): Promise<void> => {
    const row = { external_ids: new Map([['ipledger', value]]) };
    const operation: Operation = connected.view.global
      ? { op: 'update', table: 'NB_Global', where: [], row }
      : { op: 'insert', table: 'NB_Global', row };
    await connected.client.transact([operation]);
  };
  it('A projector writes thousands of ports in transactions of a thousand rows', async () => {
    const { outcomes } = runProjector(connected, {
      desired: new DesiredRows(inputsOf(2_500)),
      signal: stop.signal,
    });
    await connected.until(() => countPorts(connected) === 2_501);
    await connected.settle();
    expect(outcomes).to.deep.equal(['committed', 'committed', 'committed', 'committed']);
  });

  it('A projector compares each port a bounded number of times, also if the ports need many transactions', async () => {
    const { view } = connected;
    const named = view.named.bind(view);
    let looks = 0;
    view.named = (table, name) => (looks++, named(table, name));
    const count = 5_000;
    runProjector(connected, { desired: new DesiredRows(inputsOf(count)), signal: stop.signal });
    await connected.until(() => countPorts(connected) === count + 1);
    await connected.settle();
    expect(looks).to.be.below(6 * count);
  });

  it('A projector writes the ledger, the position and its own identity into the fence', async () => {
    const desired = new DesiredRows(inputsOf(1));
    runProjector(connected, { desired, seq: () => 42, signal: stop.signal });
    await connected.until(() => countPorts(connected) === 2);
    expect(fenceIn(connected)).to.equal(`${testLedger}/1/42/a`);
  });

  it('A projector writes only the fence when the database has all rows', async () => {
    const desired = new DesiredRows(inputsOf(3));
    const first = new AbortController();
    runProjector(connected, { desired, signal: AbortSignal.any([first.signal, stop.signal]) });
    await connected.until(() => countPorts(connected) === 4);
    first.abort();
    const again = await connectView(northbound.server, stop.signal);
    const { outcomes, projector } = runProjector(again, { desired, writer: 'b', signal: stop.signal });
    await again.until(() => fenceIn(again) === `${testLedger}/1/1/b`);
    projector.request('all');
    await again.settle();
    expect(projector.hasCompared).to.equal(true);
    expect(outcomes).to.deep.equal(['committed']);
  });

  it('A suspended projector is refused and ends when another projector has written since', async () => {
    const inputs = inputsOf(1);
    const desired = new DesiredRows(inputs);
    let gate = Promise.resolve();
    let isSuspended = false;
    const beforeTransaction = (): Promise<void> => {
      isSuspended = true;
      return gate;
    };
    const first = runProjector(connected, { desired, beforeTransaction, signal: stop.signal });
    await connected.until(() => countPorts(connected) === 2);

    const resumed = Promise.withResolvers<void>();
    gate = resumed.promise;
    isSuspended = false;
    const late = allocationOf('late', { seq: 2 });
    inputs.allocations.set(logicalPortName(late), late);
    desired.recomputePort(logicalPortName(late));
    first.projector.request([logicalPortName(late)]);
    const other = await connectView(northbound.server, stop.signal);
    runProjector(other, { desired: new DesiredRows(inputsOf(1)), writer: 'b', seq: () => 2, signal: stop.signal });
    await connected.until(() => fenceIn(connected) === `${testLedger}/1/2/b`);
    expect(isSuspended).to.equal(true);
    resumed.resolve();

    const error: unknown = await first.ended.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Deposed);
    expect(first.outcomes.at(-1)).to.equal('fenced');
    expect(connected.view.named('Logical_Switch_Port', logicalPortName(late))).to.deep.equal([]);
  });

  it('A projector writes nothing while the database has a later position, and continues when it has reached that position', async () => {
    await setFence(formatFence({ ledger: testLedger, epoch: 1, seq: 100, writer: 'b' }));
    let seq = 99;
    const desired = new DesiredRows(inputsOf(1));
    const { projector, outcomes } = runProjector(connected, { desired, seq: () => seq, signal: stop.signal });
    await connected.settle();
    expect(outcomes).to.deep.equal([]);
    expect(projector.refusal).to.contain('of event 100 in epoch 1').and.contain('up to event 99');
    seq = 100;
    projector.retryRefused();
    await connected.until(() => countPorts(connected) === 2);
    expect(projector.refusal).to.equal(undefined);
  });

  it('A projector writes nothing to the database of another ledger until the operator removes the fence', async () => {
    await setFence('01ANOTHERLEDGER/1/7/x');
    const desired = new DesiredRows(inputsOf(1));
    const { projector } = runProjector(connected, { desired, signal: stop.signal });
    await setFence('01ANOTHERLEDGER/1/8/x');
    expect(projector.refusal).to.contain('belongs to ledger 01ANOTHERLEDGER').and.contain('ovn-nbctl remove');
    expect(countPorts(connected)).to.equal(0);
    await connected.client.transact([
      { op: 'update', table: 'NB_Global', where: [], row: { external_ids: new Map() } },
    ]);
    await connected.until(() => countPorts(connected) === 2);
  });

  it('A projector leaves out a row that the server rejects, and writes the other rows', async () => {
    const inputs = rowInputs({
      subnets: [subnetNamed('lan'), subnetNamed('wire')],
      settings: { wire: settingsOf({ vlan: 'wrong' }) },
      vlans: { wrong: { id: 9_999, provider: 'physnet', problems: [] } },
      providerNetworks: ['physnet'],
      allocations: pods(20),
    });
    const { outcomes } = runProjector(connected, { desired: new DesiredRows(inputs), signal: stop.signal });
    await connected.until(() => countPorts(connected) === 21);
    expect(connected.view.named('Logical_Switch_Port', 'localnet.wire')).to.deep.equal([]);
    await connected.settle();
    expect(outcomes).to.include('rejected');
  });

  it('A projector restores a row that another program changed, moved or deleted', async () => {
    const desired = new DesiredRows(inputsOf(3));
    runProjector(connected, { desired, signal: stop.signal });
    await connected.until(() => countPorts(connected) === 4);
    const uuidOf = (name: string): string => connected.view.named('Logical_Switch_Port', name)[0]?.uuid ?? '';
    const [first = '', second = '', third = ''] = [...desired.ports.keys()].map(uuidOf);
    const lan = connected.view.named('Logical_Switch', 'lan')[0]?.uuid ?? '';
    const own = { name: 'second', external_ids: ownerIds(testLedger) };
    await connected.client.transact([
      {
        op: 'update',
        table: 'Logical_Switch_Port',
        where: [['_uuid', '==', first]],
        row: { addresses: new Set(['unknown']) },
      },
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [['_uuid', '==', lan]],
        mutations: [['ports', 'delete', new Set([second, third])]],
      },
      { op: 'insert', table: 'Logical_Switch', row: { ...own, ports: new Set([third]) } },
    ]);
    const isRestored = ([name, { columns }]: [string, DesiredPort]): boolean => {
      const row = connected.view.named('Logical_Switch_Port', name)[0]?.row;
      return areEqual(row?.['addresses'], columns['addresses']);
    };
    await connected.until(
      () => connected.view.named('Logical_Switch', 'second').length === 0 && [...desired.ports].every(isRestored),
    );
    expect(countPorts(connected)).to.equal(4);
  });
});
