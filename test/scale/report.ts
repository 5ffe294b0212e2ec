/** Formats the costs of a run as one table. */
import { formatTable } from './resource-usage.ts';
import { type Cost, totalCpuSeconds } from './process-costs.ts';

/** The costs of the same work: as plain requests of one client, and with ipledger. */
export interface CostPair {
  readonly raw: Cost;
  readonly own: Cost;
}

export interface Figures {
  /** The seconds to the last annotation. `raw` counts creation and patches of the Pods only. */
  readonly annotated: { readonly raw: number; readonly own: number };
  readonly created: CostPair;
  readonly deleted: CostPair;
  /** MiB by process: before the Pods, with all Pods, after their deletion. */
  readonly memory: readonly ReadonlyMap<string, number>[];
  /** Further lines: label and figures. */
  readonly notes: readonly (readonly [what: string, figures: string])[];
}

/** Formats the figures under a title. */
export function formatReport(title: string, { annotated, created, deleted, memory, notes }: Figures): string {
  const pairs = [created, deleted];
  const names = new Set(pairs.flatMap(({ own }) => [...own.cpu.keys()]));
  const rows = [
    [title, 'created:', '', '', 'deleted:', '', '', 'memory:', '', ''],
    ['', 'raw', 'ipledger', 'ratio', 'raw', 'ipledger', 'ratio', 'before', 'full', 'empty'],
    ['seconds to the last annotation', ...compare(annotated.raw, annotated.own)],
    ['seconds to the last IP object', ...pairs.flatMap(({ raw, own }) => compare(raw.seconds, own.seconds))],
    [
      'CPU seconds of all processes',
      ...pairs.flatMap(({ raw, own }) => compare(totalCpuSeconds(raw.cpu), totalCpuSeconds(own.cpu))),
    ],
    ...[...names].map((name) => [
      `  ${name}`,
      ...pairs.flatMap(({ raw, own }) => [seconds(raw.cpu.get(name)), seconds(own.cpu.get(name)), '']),
      ...memory.map((resident) => `${resident.get(name)} MiB`),
    ]),
    ['  other processes', ...pairs.flatMap(({ raw, own }) => [seconds(raw.elsewhere), seconds(own.elsewhere), ''])],
  ];
  return `${formatTable(rows)}\n${formatTable(notes)}`;
}

const compare = (raw: number, own: number): string[] => [seconds(raw), seconds(own), (own / raw).toFixed(2)];
const seconds = (value: number | undefined): string => value?.toFixed(value < 10 ? 2 : 1) ?? '';
