/**
 * Draws the address map on a canvas. Each state has a colour of app.css and a pattern, so that a
 * reader does not need the colours.
 */
import { type CellState, cellStates } from '../../api/address-map.ts';
import type { Grid } from './grid.ts';

/** The colours of each state, as the style sheet has them at this moment. */
interface Theme {
  readonly fill: Readonly<Record<CellState, string>>;
  readonly ink: Readonly<Record<CellState, string>>;
  readonly text: string;
  readonly border: string;
  readonly focus: string;
  readonly font: string;
}

export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const of = (part: string): Record<CellState, string> =>
    Object.fromEntries(cellStates.map((state) => [state, colour(`--${part}-${state}`)])) as Record<CellState, string>;
  const [text, border, focus] = [colour('--text'), colour('--border'), colour('--focus')];
  return { fill: of('fill'), ink: of('ink'), text, border, focus, font: style.fontFamily };
}

interface Picture {
  readonly grid: Grid;
  /** The states of each cell, as in Page. */
  readonly parts: Uint8Array;
  readonly labels: { cell(index: number): string; row(index: number): string };
  readonly theme: Theme;
  readonly selected: number;
}

/** Draws all cells. The canvas has device pixels, `scale` of them for each pixel of the layout. */
export function drawPicture(context: CanvasRenderingContext2D, picture: Picture, scale: number): void {
  const { grid, theme } = picture;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, grid.width, grid.height);
  context.font = `11px ${theme.font}`;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  context.fillStyle = theme.text;
  for (let row = 0; row < grid.rows; row++) {
    const { y } = grid.positionOf(row * grid.columns);
    context.fillText(picture.labels.row(row), grid.gutter - 8, y + grid.size / 2);
  }
  if (grid.isOfAddresses) drawAddresses(context, picture);
  else drawBlocks(context, picture);
  drawSelection(context, picture);
}

function drawAddresses(context: CanvasRenderingContext2D, { grid, parts, labels, theme }: Picture): void {
  context.textAlign = 'center';
  context.font = `10px ${theme.font}`;
  for (let index = 0; index < grid.count; index++) {
    const { x, y } = grid.positionOf(index);
    const state = cellStates[parts[index] ?? 0] ?? 'free';
    drawCell(context, { x, y, size: grid.size, state, theme });
    context.fillStyle = theme.ink[state];
    context.fillText(labels.cell(index), x + grid.size / 2, y + grid.size / 2 + 0.5);
  }
}

export interface Cell {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly state: CellState;
  readonly theme: Theme;
}

/**
 * Draws an address: the colour, the border and the pattern of its state. The legend uses it, too.
 */
export function drawCell(context: CanvasRenderingContext2D, { x, y, size, state, theme }: Cell): void {
  context.fillStyle = theme.fill[state];
  context.fillRect(x, y, size, size);
  context.save();
  context.beginPath();
  context.rect(x, y, size, size);
  context.clip();
  context.strokeStyle = theme.ink[state];
  context.fillStyle = theme.ink[state];
  context.lineWidth = 1.5;
  context.beginPath();
  patterns[state](context, { x, y, size });
  context.stroke();
  context.restore();
  context.lineWidth = 1;
  context.strokeStyle = theme.border;
  context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

type Place = Pick<Cell, 'x' | 'y' | 'size'>;
type Pattern = (context: CanvasRenderingContext2D, place: Place) => void;

/** The patterns of states, at the edge of the cell: the number of the address is in its middle. */
const patterns: Readonly<Record<CellState, Pattern>> = {
  free: () => undefined,
  allocated: (context, place) => line(context, place, [0.12, 0.88, 0.88, 0.88]),
  bound(context, place) {
    line(context, place, [0.12, 0.88, 0.88, 0.88]);
    line(context, place, [0.12, 0.12, 0.88, 0.12]);
  },
  reserved(context, place) {
    line(context, place, [0.12, 0.12, 0.12, 0.88]);
    line(context, place, [0.88, 0.12, 0.88, 0.88]);
  },
  resting(context, place) {
    for (const start of [0.3, 0.18]) {
      line(context, place, [0, start, start, 0]);
      line(context, place, [1, 1 - start, 1 - start, 1]);
    }
  },
  quarantined(context, place) {
    line(context, place, [0, 0, 0.3, 0.3]);
    line(context, place, [1, 0, 0.7, 0.3]);
    line(context, place, [0, 1, 0.3, 0.7]);
    line(context, place, [1, 1, 0.7, 0.7]);
  },
  excluded(context, place) {
    line(context, place, [0, 1, 0.3, 0.7]);
    line(context, place, [0.7, 0.3, 1, 0]);
  },
  gateway(context, { x, y, size }) {
    context.arc(x + size / 2, y + size / 2, size * 0.42, 0, 2 * Math.PI);
  },
};

function line(context: CanvasRenderingContext2D, { x, y, size }: Place, ends: [number, number, number, number]): void {
  const [fromX, fromY, toX, toY] = ends;
  context.moveTo(x + fromX * size, y + fromY * size);
  context.lineTo(x + toX * size, y + toY * size);
}

/** Draws blocks, each as a square of 16 × 16 parts: the pixels of a small picture, enlarged. */
function drawBlocks(context: CanvasRenderingContext2D, { grid, parts, theme }: Picture): void {
  const side = 16;
  const small = new OffscreenCanvas(side, side * grid.count);
  const pixels = small.getContext('2d');
  if (!pixels) return;
  const image = pixels.createImageData(small.width, small.height);
  const words = new Uint32Array(image.data.buffer);
  const colours = cellStates.map((state) => pixelOf(theme.fill[state]));
  for (let part = 0; part < parts.length; part++) words[part] = colours[parts[part] ?? 0] ?? 0;
  pixels.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.strokeStyle = theme.border;
  context.lineWidth = 1;
  for (let index = 0; index < grid.count; index++) {
    const { x, y } = grid.positionOf(index);
    context.drawImage(small, 0, index * side, side, side, x, y, grid.size, grid.size);
    context.strokeRect(x - 0.5, y - 0.5, grid.size + 1, grid.size + 1);
  }
}

/** Converts "#rrggbb" to a pixel of ImageData, little-endian as in every browser. */
function pixelOf(colour: string): number {
  const value = Number.parseInt(colour.slice(1), 16);
  return ((0xff << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

function drawSelection(context: CanvasRenderingContext2D, { grid, theme, selected }: Picture): void {
  if (selected < 0 || selected >= grid.count) return;
  const { x, y } = grid.positionOf(selected);
  context.strokeStyle = theme.focus;
  context.lineWidth = 3;
  context.strokeRect(x - 1.5, y - 1.5, grid.size + 3, grid.size + 3);
}
