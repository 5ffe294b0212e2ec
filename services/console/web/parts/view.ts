/** The frame of a view: its title, what it waits for, and why it has nothing to show. */
import { useEffect } from 'preact/hooks';
import type { Loaded } from '../data/use-data.ts';
import { type ComponentChildren, html, type VNode } from './html.ts';

interface ViewProps {
  /** The title, which the tab of the browser also shows. */
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function View({ title, children }: ViewProps): VNode {
  useEffect(() => {
    document.title = `${title} · ipledger`;
  }, [title]);
  return html`<h1><bdi>${title}</bdi></h1>
    ${children}`;
}

/** Returns a notice of an error or of missing data; `undefined` when there is data. */
export function absence({ value, error }: Pick<Loaded<unknown>, 'value' | 'error'>): VNode | undefined {
  if (error !== '') return html`<p class="panel trouble" role="alert">${error}</p>`;
  return value === undefined ? html`<p class="quiet">Loading …</p>` : undefined;
}
