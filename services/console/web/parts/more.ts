/** The button below a list for its next page. */
import type { LoadedPages } from '../data/use-data.ts';
import { html, type VNode } from './html.ts';

export const More = ({ pages }: { readonly pages: LoadedPages<{ readonly nextPage?: string }> }): VNode =>
  html`${pages.hasMore && html`<p><button onClick=${() => void pages.loadMore()}>Show earlier events</button></p>`}
  ${pages.error !== '' && html`<p class="trouble" role="alert">${pages.error}</p>`}`;
