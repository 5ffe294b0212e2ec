import { expect } from 'chai';
import { faultsOfTurn, nodeFaults } from './node-faults.ts';

describe('The faults of two real nodes', () => {
  const turns = Array.from({ length: 180 }, (_, turn) => faultsOfTurn(turn));

  it('Each fault happens in three hours, and never two in one turn', () => {
    const happened = new Set(turns.flat().map(({ name }) => name));
    expect([...happened]).to.have.members(nodeFaults.map(({ name }) => name));
    expect(turns.filter((faults) => faults.length > 1)).to.deep.equal([]);
  });
});
