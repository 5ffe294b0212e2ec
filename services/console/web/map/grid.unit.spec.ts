import { expect } from 'chai';
import { cellAfterKey, gridOf } from './grid.ts';

describe('The grid of the address map', () => {
  it('The grid of the address map has as many columns as there is room for', () => {
    const columnsIn = (available: number, isOfAddresses = true): number =>
      gridOf(256, isOfAddresses, { available, gutter: 80 }).columns;
    expect([1_300, 900, 640, 300].map((width) => columnsIn(width))).to.deep.equal([32, 16, 16, 8]);
    expect([1_300, 900, 640, 300].map((width) => columnsIn(width, false))).to.deep.equal([16, 16, 8, 8]);
  });

  it('The grid of the address map finds the cell that it drew at a point, and no cell between cells', () => {
    const grid = gridOf(40, true, { available: 700, gutter: 80 });
    for (let index = 0; index < grid.count; index++) {
      const { x, y } = grid.positionOf(index);
      expect(grid.cellAt(x + 1, y + 1)).to.equal(index);
      expect(grid.cellAt(x + grid.size + 1, y + 1)).to.equal(-1);
    }
    expect(grid.cellAt(10, 10), 'the label of a row').to.equal(-1);
    const { x, y } = grid.positionOf(40);
    expect(grid.cellAt(x + 1, y + 1), 'after the last cell').to.equal(-1);
  });

  it('The grid of the address map moves by keys inside the cells, and stays at the edge', () => {
    const grid = { columns: 16, count: 40 };
    const after = (key: string, index: number): number | undefined => cellAfterKey(key, index, grid);
    expect([after('ArrowRight', 15), after('ArrowDown', 3), after('ArrowUp', 20)]).to.deep.equal([16, 19, 4]);
    expect([after('ArrowUp', 3), after('ArrowLeft', 0), after('ArrowDown', 39)]).to.deep.equal([3, 0, 39]);
    expect([after('Home', 20), after('End', 20), after('End', 35)]).to.deep.equal([16, 31, 39]);
    expect(after('a', 3)).to.equal(undefined);
  });
});
