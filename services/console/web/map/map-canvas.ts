/**
 * The address map as one element: a canvas that mouse and keys move through, and a line that screen
 * readers speak.
 */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useColourScheme } from '../parts/colour-scheme.ts';
import { html, type VNode } from '../parts/html.ts';
import { drawPicture, readTheme } from './draw.ts';
import { cellAfterKey, gridOf } from './grid.ts';
import type { Page } from './page.ts';

interface MapProps {
  readonly name: string;
  readonly page: Page;
  /** The selected cell; -1 for none. */
  readonly selected: number;
  /** Describes a cell in words. */
  describe(index: number): string;
  onSelect(index: number): void;
  /** Called by Enter or a second click: opens the page of an address, or the map of a block. */
  onOpen(index: number): void;
  /** Called by Escape: returns to the map that this map was opened from. */
  onLeave(): void;
}

/** The mark in the browser's timeline that the bench measures. */
const mapDrawn = 'map drawn';

export function MapCanvas({ name, page, selected, describe, onSelect, onOpen, onLeave }: MapProps): VNode {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const available = useWidth(frame);
  const scheme = useColourScheme();
  const { count, isOfAddresses, family } = page;
  const grid = useMemo(
    () => gridOf(count, isOfAddresses, { available, gutter: family === 4 ? 96 : 190 }),
    [count, isOfAddresses, available, family],
  );
  useLayoutEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !canvas.current || available === 0) return;
    const scale = devicePixelRatio;
    canvas.current.width = grid.width * scale;
    canvas.current.height = grid.height * scale;
    canvas.current.style.width = `${grid.width}px`;
    canvas.current.style.height = `${grid.height}px`;
    const labels = {
      cell: (index: number) => page.cell(index).label,
      row: (row: number) => page.cell(row * grid.columns).name.split('/', 1)[0] ?? '',
    };
    drawPicture(context, { grid, parts: page.parts, labels, theme: readTheme(canvas.current), selected }, scale);
    performance.clearMarks(mapDrawn);
    performance.mark(mapDrawn);
  }, [grid, page, selected, scheme, available]);

  const pick = (event: MouseEvent): void => {
    const index = grid.cellAt(event.offsetX, event.offsetY);
    if (index < 0) return;
    if (index === selected || event.detail > 1) onOpen(index);
    else onSelect(index);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || page.count === 0) return;
    const target = cellAfterKey(event.key, Math.max(0, selected), grid);
    if (target !== undefined) {
      const index = selected < 0 ? 0 : target;
      onSelect(index);
      reveal(canvas.current, grid.positionOf(index).y, grid.size);
    } else if (event.key === 'Enter' && selected >= 0) onOpen(selected);
    else if (event.key === 'Escape') onLeave();
    else return;
    event.preventDefault();
  };
  return html`<div class="map scroll" ref=${frame}>
    <canvas
      ref=${canvas}
      tabindex="0"
      role="application"
      aria-roledescription="address map"
      aria-label=${name}
      aria-describedby="map-keys"
      onClick=${pick}
      onKeyDown=${press}
    ></canvas>
    <p class="for-readers" id="map-keys">
      Arrow keys move through the map, Enter opens, Escape goes back. The table below shows the same.
    </p>
    <p class="for-readers" role="status">${selected >= 0 && selected < page.count ? describe(selected) : ''}</p>
  </div>`;
}

/** Scrolls the page as far as needed to show a cell that a key moved to. */
function reveal(canvas: HTMLCanvasElement | null, y: number, size: number): void {
  const top = (canvas?.getBoundingClientRect().top ?? 0) + y;
  const below = top + 2 * size - document.documentElement.clientHeight;
  if (top < size) scrollBy(0, top - size);
  else if (below > 0) scrollBy(0, below);
}

/** The width that an element has for its content. */
function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, set] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return undefined;
    set(element.current.clientWidth);
    const observer = new ResizeObserver(([entry]) => entry && set(Math.floor(entry.contentRect.width)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width;
}
