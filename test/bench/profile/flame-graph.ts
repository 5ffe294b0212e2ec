/**
 * Draws a CPU profile of V8 as a flame graph: the width of a frame is its part of the time, its
 * callees are above it.
 */
import { basename } from 'node:path';

/**
 * A part of the format that `node --cpu-prof` writes (Chrome DevTools Protocol, type
 * Profiler.Profile).
 */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  /** The node on top of the stack at each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

/** A function, called by its parent. */
export interface Frame {
  readonly name: string;
  /** Time in it and its callees. */
  us: number;
  readonly callees: Map<string, Frame>;
}

/** Whether a frame is idle time, which would hide everything else. */
const isIdle = (name: string): boolean => name === '(idle)' || name === '(program)';

/**
 * Adds up the samples of each stack. Calls of the same function by the same caller are one frame.
 */
export function collectFrames({ nodes, samples, timeDeltas }: CpuProfile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const root: Frame = { name: 'all', us: 0, callees: new Map() };
  for (const [index, sample] of samples.entries()) {
    const names: string[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = callers.get(id)) {
      const frame = byId.get(id)?.callFrame;
      if (frame && callers.has(id)) names.push(nameOf(frame));
    }
    if (isIdle(names[0] ?? '(idle)')) continue;
    const us = Math.max(0, timeDeltas[index] ?? 0);
    root.us += us;
    let frame = root;
    for (const name of names.reverse()) {
      const callee = frame.callees.get(name) ?? { name, us: 0, callees: new Map<string, Frame>() };
      frame.callees.set(name, callee);
      callee.us += us;
      frame = callee;
    }
  }
  return root;
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const place = url === '' ? '' : ` ${basename(url)}:${lineNumber + 1}`;
  return `${functionName || '(anonymous)'}${place}`;
}

const widthPx = 1_600;
const rowPx = 17;
/** The narrowest frame that is drawn. */
const minFramePx = 0.6;
const pxPerCharacter = 6.6;

/** Returns an SVG file. A tooltip shows the name, milliseconds and part of a frame. */
export function drawFlameGraph(root: Frame, title: string): string {
  const rects: string[] = [];
  let depth = 0;
  const draw = (frame: Frame, x: number, row: number): void => {
    const width = (frame.us / root.us) * widthPx;
    if (!(width >= minFramePx)) return;
    depth = Math.max(depth, row);
    rects.push(drawFrame(frame, { x, row, width, part: frame.us / root.us }));
    let left = x;
    for (const callee of [...frame.callees.values()].sort((one, other) => other.us - one.us)) {
      draw(callee, left, row + 1);
      left += (callee.us / root.us) * widthPx;
    }
  };
  draw(root, 0, 0);
  const height = (depth + 2) * rowPx;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${height}" font-family="monospace" font-size="11">
<text x="4" y="12">${escapeXml(title)}</text>
<g transform="translate(0 ${height})">
${rects.join('\n')}
</g>
</svg>
`;
}

function drawFrame(
  { name, us }: Frame,
  { x, row, width, part }: { x: number; row: number; width: number; part: number },
): string {
  const y = -(row + 1) * rowPx;
  const label = name.slice(0, Math.floor(width / pxPerCharacter));
  const text = label.length < 3 ? '' : `<text x="${(x + 2).toFixed(1)}" y="${y + 12}">${escapeXml(label)}</text>`;
  const tooltip = `${name}: ${(us / 1_000).toFixed(1)} ms, ${(part * 100).toFixed(1)} %`;
  const hue = name.includes('node:') || !name.includes(' ') ? 200 : 30;
  return `<g><title>${escapeXml(tooltip)}</title><rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${rowPx - 1}" fill="hsl(${hue + (row % 5) * 4} 80% 70%)"/>${text}</g>`;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeXml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? character);
