/**
 * Dashboards of Grafana as typed data: panels with queries, in rows from left to right.
 * `grafanaJson` writes Grafana's format.
 */

export interface Query {
  /** PromQL, with Grafana's `$__rate_interval` and the variables of the dashboard. */
  readonly expression: string;
  /** The name of each series, for example `{{code}}`. */
  readonly legend: string;
}

/** Units of Grafana. */
type Unit = 'short' | 's' | 'bytes' | 'ops' | 'percentunit' | 'bool_yes_no';

export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly kind: 'stat' | 'timeseries';
  /** The unit; default: short, for counts. */
  readonly unit?: Unit;
  readonly queries: readonly Query[];
}

/** A variable with the values of a metric's label. */
export interface Variable {
  readonly name: string;
  readonly metric: string;
  readonly label: string;
}

export interface Dashboard {
  /** The name of the dashboard's file, and the end of its uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  /** The panels by row. Panels of one row have the same height and width. */
  readonly rows: readonly (readonly Panel[])[];
}

const datasource = { type: 'prometheus', uid: '${datasource}' };
const heights = { stat: 4, timeseries: 8 } as const;
const columns = 24;

/** Makes a panel with one number. */
export const stat = (panel: Omit<Panel, 'kind'>): Panel => ({ ...panel, kind: 'stat' });

/** Makes a panel with lines over time. */
export const timeseries = (panel: Omit<Panel, 'kind'>): Panel => ({ ...panel, kind: 'timeseries' });

interface Position {
  readonly x: number;
  readonly y: number;
  readonly w: number;
}

/** Converts a dashboard to Grafana's JSON, for import or a sidecar that loads ConfigMaps. */
export function grafanaJson({ name, title, description, variables, rows }: Dashboard): object {
  return {
    uid: `ipledger-${name}`,
    title,
    description,
    tags: ['ipledger'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    timezone: 'utc',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: [datasourceVariable, ...variables.map(variableJson)] },
    links: [{ title: 'ipledger', type: 'dashboards', tags: ['ipledger'], asDropdown: true, keepTime: true }],
    panels: panelsOf(rows),
  };
}

const datasourceVariable = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' };

function variableJson({ name, metric, label }: Variable): object {
  const query = `label_values(${metric}, ${label})`;
  return {
    name,
    label: name,
    type: 'query',
    datasource,
    definition: query,
    query: { query, refId: name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
}

function panelsOf(rows: Dashboard['rows']): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    const w = columns / row.length;
    for (const [at, panel] of row.entries()) panels.push(panelJson(panel, panels.length + 1, { x: at * w, y, w }));
    y += Math.max(...row.map(({ kind }) => heights[kind]));
  }
  return panels;
}

function panelJson({ title, description, kind, unit = 'short', queries }: Panel, id: number, at: Position): object {
  return {
    id,
    type: kind,
    title,
    description,
    datasource,
    gridPos: { ...at, h: heights[kind] },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      kind === 'stat'
        ? {
            colorMode: 'value',
            graphMode: 'area',
            reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
          }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expression, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource,
      expr: expression,
      legendFormat: legend,
    })),
  };
}
