/**
 * Moves between pages without loading a document. Links are plain links, so that they can be copied
 * and opened in a tab.
 */
import { parsePlace, type Place } from './location.ts';
import { createStore, useStore } from './store.ts';

const place = createStore(parsePlace(location.href));

/**
 * Shows another page. `replace`: without an entry in the history, for a slider or a filter that
 * changes quickly.
 */
export function navigate(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  place.set(parsePlace(location.href));
}

/** Changes fields of the query of the page; "" removes a field. */
export function changeQuery(changes: Readonly<Record<string, string>>, options?: { readonly replace?: boolean }): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  navigate(url.pathname + url.search, options);
}

export const usePlace = (): Place => useStore(place);

/** Follows the links of the console and the buttons of the browser. */
export function startRouter(): void {
  addEventListener('popstate', () => place.set(parsePlace(location.href)));
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.pathname.startsWith('/api/') || link.hash !== '') return;
    event.preventDefault();
    navigate(link.pathname + link.search);
    document.getElementById('main')?.focus();
    scrollTo(0, 0);
  });
}
