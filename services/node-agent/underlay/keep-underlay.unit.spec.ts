import { expect } from 'chai';
import { pino } from 'pino';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { Operation } from '../../../lib/ovsdb/transaction.ts';
import type { OvsRow } from '../ovs/ovs-database.ts';
import { UnderlayKeeper, type UnderlayOptions } from './keep-underlay.ts';

const { signal } = new AbortController();
const eth1 = { name: 'eth1', addresses: [], master: '', parent: '', isUp: true };
const network = (name: string, defaultInterface = 'eth1'): object => ({
  metadata: { name },
  spec: { defaultInterface },
});

/** Makes a node with an empty switch. */
function createNode(get: UnderlayOptions['get']) {
  const transactions: (readonly Operation[])[] = [];
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  let reads = 0;
  const row: OvsRow = { uuid: 'root', row: { bridges: new Set(), external_ids: new Map() } };
  const keeper = new UnderlayKeeper({
    ovs: {
      ready: () => Promise.resolve(),
      root: () => row,
      rows: () => new Map(),
      transact: (operations) => {
        transactions.push(operations);
        return Promise.resolve([]);
      },
    },
    get,
    node: 'node-1',
    log,
    links: {
      read: () => {
        reads++;
        return Promise.resolve([eth1]);
      },
      setUp: () => Promise.resolve(),
    },
  });
  return { keeper, transactions, lines, reads: () => reads };
}

describe('The keeper of a node’s physical networks', () => {
  it('The node’s physical networks are changed in one transaction', async () => {
    const { keeper, transactions } = createNode(() => Promise.resolve({ items: [network('net1')] }));
    await keeper.reconcile(signal);
    expect(transactions).to.have.lengthOf(1);
    expect(transactions[0]?.[0]).to.include({ op: 'wait', table: 'Open_vSwitch', timeoutMs: 0 });
    expect(keeper.status).to.deep.equal({ served: 1, refused: 0 });
  });

  it('The node’s physical networks do not change where the cluster has no ProviderNetworks', async () => {
    const { keeper, transactions } = createNode(() => Promise.reject(new ApiError(404, '404 no')));
    expect(await keeper.reconcile(signal)).to.equal(undefined);
    expect(transactions).to.deep.equal([]);
    expect(keeper.status).to.equal(undefined);
  });

  it('The node’s physical networks do not change after an answer that is no list, or that has too many networks', async () => {
    const many = Array.from({ length: 257 }, (_, index) => network(`n${index}`));
    for (const answer of [{}, { items: 'x' }, { items: many }]) {
      const { keeper, transactions } = createNode(() => Promise.resolve(answer));
      const error: unknown = await keeper.reconcile(signal).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Error);
      expect(transactions).to.deep.equal([]);
    }
  });

  it('A refused physical network is logged once, and again when the reason changes', async () => {
    let nic = 'eth7';
    const { keeper, lines } = createNode(() => Promise.resolve({ items: [network('net1', nic)] }));
    await keeper.reconcile(signal);
    await keeper.reconcile(signal);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.contain('ProviderNetwork net1 is not available on this node: the node has no NIC eth7');
    nic = 'eth8';
    await keeper.reconcile(signal);
    expect(lines).to.have.lengthOf(2);
    expect(keeper.status).to.deep.equal({ served: 0, refused: 1 });
  });

  it('Links are not read on a node without physical networks', async () => {
    const { keeper, reads } = createNode(() => Promise.resolve({ items: [network('net1', '')] }));
    await keeper.reconcile(signal);
    expect(reads()).to.equal(0);
  });
});
