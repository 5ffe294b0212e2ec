/**
 * Faults of the data path that repair themselves: deleted rows of the northbound database, killed
 * programs, and containers that were added and deleted many times.
 */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { collectLeftovers } from './leftovers.ts';
import {
  addressOf,
  applyDocument,
  type AttachedPod,
  createPod,
  expectPings,
  type OvnEnvironment,
} from './ovn-environment.ts';
import { describeOnOvn } from './ovn-suite.ts';
import { callPlugin, createContainer, createUnscheduledPods, deleteUntilDone, removeContainer } from './plugin-load.ts';

const isLong = process.env['CHAOS'] === '1';
const kills = isLong ? 20 : 2;
const pairs = isLong ? 1_000 : 40;
const provider = 'attachnet.default.ovn';

/** Reads all columns of the rows of other owners. */
async function foreignRows({ stack: { central } }: OvnEnvironment): Promise<string> {
  const find = (table: string, name: string) => central.nbctl(['--format=json', 'find', table, `name=${name}`]);
  return (await find('logical_switch', 'foreign')) + (await find('logical_switch_port', 'foreign-port'));
}

/**
 * Waits until the switch is back, and both nodes have its flows. Before, the old flows may still
 * answer.
 */
async function untilRebuilt({ stack: { central } }: OvnEnvironment): Promise<void> {
  await eventually(() => central.nbctl(['get', 'logical_switch', 'attachnet', 'name']));
  await central.nbctl(['--wait=hv', 'sync']);
}

describeOnOvn('faults of OVN', (it) => {
  let here: AttachedPod;
  let there: AttachedPod;

  it('rows that disappear from the northbound database come back, and foreign rows stay', async (environment) => {
    const { a, b, stack } = environment;
    const { central } = stack;
    await applyDocument(environment, 'manage-multiple-interface', '10-nad-attachnet');
    await applyDocument(environment, 'manage-multiple-interface', '11-subnet-attachnet');
    [here, there] = await Promise.all([
      createPod(environment, 'here', { node: a, networks: 'attachnet' }),
      createPod(environment, 'there', { node: b, networks: 'attachnet' }),
    ]);
    await central.nbctl(['ls-add', 'foreign', '--', 'lsp-add', 'foreign', 'foreign-port']);
    const before = await foreignRows(environment);
    expect(before).to.contain('foreign-port');
    await expectPings(here, addressOf(there));
    await central.nbctl(['ls-del', 'attachnet', '--', 'lr-del', 'ovn-cluster']);
    const startedAt = performance.now();
    await untilRebuilt(environment);
    await expectPings(here, addressOf(there));
    console.log(`      pings again after ${Math.round(performance.now() - startedAt)} ms`);
    expect(await foreignRows(environment)).to.equal(before);
  });

  it('an empty northbound database is rebuilt', async (environment) => {
    const { central } = environment.stack;
    await central.northbound.stop();
    await central.northbound.recreate();
    await central.northbound.start();
    await untilRebuilt(environment);
    // The new database counts its synchronisations from 0, so the nodes seem to be in time
    await eventually(() => expectPings(here, addressOf(there)));
  });

  it('containers that are added and deleted leave no port, link or row', async (environment) => {
    const names = Array.from({ length: 10 }, (_, index) => `load-${index}`);
    await createUnscheduledPods(environment, names, 'attachnet');
    const { a, b } = environment;
    await Promise.all(
      [a, b].map(async (node, half) => {
        for (let pair = 0; pair < pairs / 2; pair += 1) {
          const pod = names[half * 5 + (pair % 5)] ?? '';
          const containerId = await createContainer(node);
          const call = { node, pod, containerId, provider };
          const { code, output } = await callPlugin('ADD', call);
          expect(code, output).to.equal(0);
          await deleteUntilDone(call);
          await removeContainer(node, containerId);
        }
      }),
    );
    await eventually(async () => expect(await collectLeftovers(environment, [here, there])).to.deep.equal([]));
  });

  it('programs that are killed while containers come and go leave nothing, and the data path works', async (environment) => {
    const { a, b, stack } = environment;
    const nodes = [a, b].flatMap(({ agent, ovn }) => [agent, ...(ovn ? [ovn.controller, ovn.vswitchd] : [])]);
    const parts = [stack.projector, stack.allocator, stack.central.northd, stack.central.northbound, ...nodes];
    const load = new AbortController();
    const churn = [a, b].map(async (node, half) => {
      for (let turn = 0; !load.signal.aborted; turn += 1) {
        const containerId = await createContainer(node);
        const call = { node, pod: `load-${half * 5 + (turn % 5)}`, containerId, provider };
        // An ADD may fail while a program is down. Its DEL must still remove everything
        await callPlugin('ADD', call);
        await deleteUntilDone(call);
        await removeContainer(node, containerId);
      }
    });
    try {
      for (let round = 0; round < kills; round += 1) for (const part of parts) await part.restart();
    } finally {
      load.abort();
      await Promise.all(churn);
    }
    await eventually(async () => expect(await collectLeftovers(environment, [here, there])).to.deep.equal([]));
    await expectPings(here, addressOf(there), 20);
  });
});
