/** The places of the cells on the canvas, and the cell that a key moves to. */

export interface Grid {
  readonly count: number;
  readonly columns: number;
  readonly rows: number;
  /** The side of a cell. */
  readonly size: number;
  /** The width of the labels left of the rows. */
  readonly gutter: number;
  readonly width: number;
  readonly height: number;
  /** Whether a cell is one address. */
  readonly isOfAddresses: boolean;
  positionOf(index: number): { readonly x: number; readonly y: number };
  /** The cell at a point; -1 between the cells. */
  cellAt(x: number, y: number): number;
}

interface CellSize {
  readonly size: number;
  readonly gap: number;
}

const addressSizes: readonly CellSize[] = [
  { size: 36, gap: 3 },
  { size: 28, gap: 3 },
];
/** A block is a square of 16 × 16 parts. */
const blockSizes: readonly CellSize[] = [
  { size: 48, gap: 6 },
  { size: 32, gap: 5 },
];

interface Space {
  /** The width that the page has for the map. */
  readonly available: number;
  readonly gutter: number;
}

/** The grid of a page: 32, 16 or 8 columns, as many as there is room for. */
export function gridOf(count: number, isOfAddresses: boolean, { available, gutter }: Space): Grid {
  const widthOf = (columns: number, { size, gap }: CellSize): number => gutter + columns * (size + gap) + gap;
  const sizes = isOfAddresses ? addressSizes : blockSizes;
  const choices = (isOfAddresses ? [32, 16, 8] : [16, 8]).flatMap((columns) =>
    sizes.map((each) => ({ columns, ...each })),
  );
  const smallest = { columns: 8, size: 28, gap: 3 };
  const { columns, size, gap } = choices.find((each) => widthOf(each.columns, each) <= available) ?? smallest;
  const rows = Math.ceil(count / columns);
  const step = size + gap;
  return {
    count,
    columns,
    rows,
    size,
    gutter,
    width: widthOf(columns, { size, gap }),
    height: rows * step + gap,
    isOfAddresses,
    positionOf: (index) => ({
      x: gutter + gap + (index % columns) * step,
      y: gap + Math.floor(index / columns) * step,
    }),
    cellAt(x, y) {
      const [column, row] = [Math.floor((x - gutter - gap) / step), Math.floor((y - gap) / step)];
      const index = row * columns + column;
      const isInCell = (x - gutter - gap) % step < size && (y - gap) % step < size;
      return column >= 0 && column < columns && row >= 0 && index < count && isInCell ? index : -1;
    },
  };
}

/**
 * The cell that a key moves to from `index`; undefined for another key. It stays inside the grid.
 */
export function cellAfterKey(
  key: string,
  index: number,
  { columns, count }: Pick<Grid, 'columns' | 'count'>,
): number | undefined {
  const target = {
    ArrowLeft: index - 1,
    ArrowRight: index + 1,
    ArrowUp: index - columns,
    ArrowDown: index + columns,
    PageUp: index - 4 * columns,
    PageDown: index + 4 * columns,
    Home: index - (index % columns),
    End: Math.min(index - (index % columns) + columns, count) - 1,
  }[key];
  if (target === undefined) return undefined;
  return target < 0 || target >= count ? index : target;
}
