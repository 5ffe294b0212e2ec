import { expect } from 'chai';
import { parseIdentity } from '../../tls/identity.ts';
import { type ClientBudget, ClientBudgets, clientGroups } from './client-budgets.ts';

const { others, programs } = clientGroups;

describe('Client budgets', () => {
  let budgets: ClientBudgets;
  beforeEach(() => {
    budgets = new ClientBudgets();
  });

  function clientOf(uri: string): ClientBudget {
    const identity = parseIdentity(uri);
    if (!identity) throw new Error(`${uri} is no identity`);
    return budgets.ofIdentity(identity);
  }

  it('budgets limit the bytes of a client, and do not count refused bytes', () => {
    const agent = clientOf('ipledger://agent/a');
    expect(budgets.take(agent, others.maxClientBytes - 1)).to.equal(true);
    expect(budgets.take(agent, 2)).to.equal(false);
    expect(budgets.take(agent, 1)).to.equal(true);
    budgets.give(agent, others.maxClientBytes);
    expect(budgets).to.include({ bytes: 0, clientCount: 0 });
  });

  it('Client budgets limit the bytes of all clients, and keep a separate limit for the programs of ipledger', () => {
    const taken = Array.from({ length: 100 }, (_, index) =>
      budgets.take(clientOf(`ipledger://agent/${index}`), others.maxClientBytes),
    );
    const { maxBytes, smallClientsBytes, maxClientBytes } = others;
    expect(taken.filter(Boolean)).to.have.length((maxBytes - smallClientsBytes) / maxClientBytes);
    expect(budgets.take(clientOf('ipledger://watcher'), programs.maxClientBytes)).to.equal(true);
  });

  it('Client budgets leave a quarter of a group to clients that hold little', () => {
    const fill = (uri: string): void => {
      while (budgets.take(clientOf(uri), 65_536));
    };
    for (let index = 0; index < 20; index++) fill(`ipledger://agent/${index}`);
    expect(budgets.take(clientOf('ipledger://operator/ann'), 65_536)).to.equal(true);
    for (let index = 20; index < 40; index++) fill(`ipledger://agent/${index}`);
    expect(budgets.take(clientOf('ipledger://operator/bob'), 65_536)).to.equal(true);
    expect(budgets.bytes).to.be.at.most(others.maxBytes);
  });

  it('Client budgets limit the streams of all clients, and keep a separate limit for the programs of ipledger', () => {
    const openAll = (uri: string): number => {
      let count = 0;
      while (budgets.openStream(clientOf(uri))) count++;
      return count;
    };
    const opened = Array.from({ length: 100 }, (_, index) => openAll(`ipledger://operator/${index}`));
    expect(opened[0]).to.equal(others.maxClientStreams);
    expect(opened.reduce((sum, count) => sum + count, 0)).to.equal(others.maxStreams);
    expect(openAll('ipledger://read-model')).to.equal(programs.maxClientStreams);
  });

  it('Client budgets leave room for the program itself in the memory that the chart gives an allocator', () => {
    const { unidentified, anonymous } = clientGroups;
    const withTls = unidentified.maxBytes + others.maxBytes + programs.maxBytes;
    for (const bytes of [withTls, anonymous.maxBytes]) expect(bytes).to.be.at.most(512 * 2 ** 20);
  });
});
