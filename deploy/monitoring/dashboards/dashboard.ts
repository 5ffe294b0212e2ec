/** Dashboards of Grafana as typed data: panels with queries, in rows from left to right. `grafanaJson` writes Grafana's format. */

export interface Query {
  /** PromQL, with Grafana's `$__rate_interval` and the variables of the dashboard. */
  readonly expression: string;
  /** Name of each series, for example `{{code}}`. */
  readonly legend: string;
}

/** Units of Grafana. */
export type Unit = 'short' | 's' | 'bytes' | 'ops' | 'percentunit' | 'bool_yes_no';

export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly kind: 'stat' | 'timeseries';
  readonly unit: Unit;
  /** Columns of 24. */
  readonly width: 4 | 6 | 8 | 12 | 24;
  readonly queries: readonly Query[];
}

/** A variable: the values of a label of a metric. */
export interface Variable {
  readonly name: string;
  readonly metric: string;
  readonly label: string;
}

export interface Dashboard {
  /** Name of its file, and end of its uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  /** Panels of one row have the same height; a row has at most 24 columns. */
  readonly rows: readonly (readonly Panel[])[];
}

const datasource = { type: 'prometheus', uid: '${datasource}' };
const heights = { stat: 4, timeseries: 8 } as const;
const columns = 24;

/** A panel with one number. */
export const stat = (panel: Omit<Panel, 'kind'>): Panel => ({ ...panel, kind: 'stat' });

/** A panel with lines over time. */
export const timeseries = (panel: Omit<Panel, 'kind'>): Panel => ({ ...panel, kind: 'timeseries' });

interface Position {
  readonly x: number;
  readonly y: number;
}

/** The dashboard in Grafana's JSON model, for import or for a sidecar that loads ConfigMaps. */
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
    let x = 0;
    for (const panel of row) {
      panels.push(panelJson(panel, panels.length + 1, { x, y }));
      x += panel.width;
    }
    if (x > columns) throw new Error(`the row of "${row[0]?.title}" has ${x} columns, at most ${columns} fit`);
    y += Math.max(...row.map(({ kind }) => heights[kind]));
  }
  return panels;
}

function panelJson({ title, description, kind, unit, width, queries }: Panel, id: number, { x, y }: Position): object {
  return {
    id,
    type: kind,
    title,
    description,
    datasource,
    gridPos: { x, y, w: width, h: heights[kind] },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      kind === 'stat'
        ? {
            colorMode: 'value',
            graphMode: 'area',
            reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
          }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(({ expression, legend }, at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource,
      expr: expression,
      legendFormat: legend,
    })),
  };
}
