/** The legend of the address map: a sample and the meaning of each state. */
import { useEffect, useRef } from 'preact/hooks';
import { type CellState, cellStates } from '../../api/address-map.ts';
import { useColourScheme } from '../parts/colour-scheme.ts';
import { html, type VNode } from '../parts/html.ts';
import { drawCell, readTheme } from './draw.ts';
import { stateWords } from './kinds.ts';

const size = 20;

export const Legend = (): VNode =>
  html`<ul class="legend" aria-label="Legend of the map">
    ${cellStates.map((state) => html`<li key=${state}><${Sample} state=${state} />${stateWords[state]}</li>`)}
  </ul>`;

export function Sample({ state }: { readonly state: CellState }): VNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scheme = useColourScheme();
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || !canvas.current) return;
    context.setTransform(2, 0, 0, 2, 0, 0);
    drawCell(context, { x: 0, y: 0, size, state, theme: readTheme(canvas.current) });
  }, [state, scheme]);
  return html`<canvas ref=${canvas} class="sample" width=${2 * size} height=${2 * size} aria-hidden="true"></canvas>`;
}
