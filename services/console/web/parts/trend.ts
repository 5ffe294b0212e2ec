/** A small line of how many addresses were in use, with a text for readers without the picture. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { useColourScheme } from './colour-scheme.ts';
import { html, type VNode } from './html.ts';

export interface Sample {
  readonly at: string;
  readonly used: number;
}

const [width, height] = [132, 36];

/** Draws the line. `text` has the same content. */
export function Trend({ samples, text }: { readonly samples: readonly Sample[]; readonly text: string }): VNode {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useColourScheme();
  useEffect(() => {
    if (!place.current || samples.length < 2) return undefined;
    const stroke = getComputedStyle(place.current).getPropertyValue('--accent').trim();
    const data: uPlot.AlignedData = [samples.map(({ at }) => Date.parse(at) / 1_000), samples.map(({ used }) => used)];
    const plot = new uPlot(
      {
        width,
        height,
        pxAlign: 0,
        cursor: { show: false },
        select: { show: false, left: 0, top: 0, width: 0, height: 0 },
        legend: { show: false },
        axes: [{ show: false }, { show: false }],
        // Begins at zero, so that a small change does not look like a large one
        scales: { y: { range: (_, _low, high) => [0, Math.max(1, high * 1.05)] } },
        series: [{}, { stroke, width: 1.5, points: { show: false } }],
      },
      data,
      place.current,
    );
    return () => plot.destroy();
  }, [samples.map(({ used }) => used).join(), scheme]);
  return html`<div class="trend" ref=${place} role="img" aria-label=${text}></div>`;
}
