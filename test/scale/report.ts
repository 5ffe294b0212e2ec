/** What a run took, as one small table for people. */
import { table } from './meter.ts';
import { type Cost, total } from './parts.ts';

/** The same work twice: as bare requests of one client, and by ipledger. */
export interface Pair {
  readonly raw: Cost;
  readonly own: Cost;
}

export interface Figures {
  /** Seconds to the last annotation; raw: of the Pods' creation and patches alone. */
  readonly annotated: { readonly raw: number; readonly own: number };
  readonly created: Pair;
  readonly deleted: Pair;
  /** MiB of each part before, with all Pods there, and without them again. */
  readonly memory: readonly ReadonlyMap<string, number>[];
  /** Further lines: what, and how much of it. */
  readonly notes: readonly (readonly [what: string, figures: string])[];
}

/** The figures under a title. */
export function reportOf(title: string, { annotated, created, deleted, memory, notes }: Figures): string {
  const pairs = [created, deleted];
  const names = new Set(pairs.flatMap(({ own }) => [...own.cpu.keys()]));
  const rows = [
    [title, 'created:', '', '', 'deleted:', '', '', 'memory:', '', ''],
    ['', 'raw', 'ipledger', 'ratio', 'raw', 'ipledger', 'ratio', 'before', 'full', 'empty'],
    ['seconds to the last annotation', ...compared(annotated.raw, annotated.own)],
    ['seconds to the last IP object', ...pairs.flatMap(({ raw, own }) => compared(raw.seconds, own.seconds))],
    ['CPU seconds of all parts', ...pairs.flatMap(({ raw, own }) => compared(total(raw.cpu), total(own.cpu)))],
    ...[...names].map((name) => [
      `  ${name}`,
      ...pairs.flatMap(({ raw, own }) => [seconds(raw.cpu.get(name)), seconds(own.cpu.get(name)), '']),
      ...memory.map((resident) => `${resident.get(name)} MiB`),
    ]),
    ['  elsewhere meanwhile', ...pairs.flatMap(({ raw, own }) => [seconds(raw.elsewhere), seconds(own.elsewhere), ''])],
  ];
  return `${table(rows)}\n${table(notes)}`;
}

const compared = (raw: number, own: number): string[] => [seconds(raw), seconds(own), (own / raw).toFixed(2)];
const seconds = (value: number | undefined): string => value?.toFixed(value < 10 ? 2 : 1) ?? '';
