/** The button below a list for its next page. */
import type { LoadedPages } from '../data/use-data.ts';
import { html, type VNode } from './html.ts';

interface MoreProps {
  readonly pages: LoadedPages<{ readonly nextPage?: string }>;
  readonly label?: string;
}

export const More = ({ pages, label = 'Show earlier events' }: MoreProps): VNode =>
  html`${pages.hasMore && html`<p><button onClick=${() => void pages.loadMore()}>${label}</button></p>`}
  ${pages.error !== '' && html`<p class="trouble" role="alert">${pages.error}</p>`}`;
