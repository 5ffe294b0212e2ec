/** Data of the server for a view, which keeps it during a new read and while the server is away. */
import { useEffect, useReducer, useState } from 'preact/hooks';
import { RequestError, connection, forget, messageOf, request } from './client.ts';
import { withField } from './location.ts';
import { useStore } from './store.ts';

export interface Loaded<Value> {
  /** The last value that arrived, also of an earlier address of the same view. */
  readonly value: Value | undefined;
  /** The address to which `value` or `error` belongs. */
  readonly of: string;
  readonly error: string;
  reload(): void;
}

const retryMs = [500, 1_000, 2_000, 5_000];

/**
 * Reads an address; "" reads nothing. A transient error is tried again until the view is left.
 * `refreshMs`: reads it again at this interval while the page is visible.
 */
export function useData<Value>(url: string, refreshMs = 0): Loaded<Value> {
  const [state, set] = useState<Omit<Loaded<Value>, 'reload'>>({ value: undefined, of: '', error: '' });
  const [round, reload] = useReducer((count: number, _: unknown) => count + 1, 0);
  const isSignedOut = useStore(connection) === 'signed out';
  useEffect(() => {
    if (url === '' || isSignedOut) return undefined;
    const leave = new AbortController();
    let timer: number | undefined;
    const attempt = async (failures: number): Promise<void> => {
      let next = 0;
      try {
        const value = await request<Value>(url, { signal: leave.signal });
        if (!leave.signal.aborted) set({ value, of: url, error: '' });
      } catch (error) {
        if (leave.signal.aborted) return;
        if (error instanceof RequestError && error.isTransient) next = failures + 1;
        else if (!(error instanceof RequestError && error.status === 401))
          set((before) => ({ ...before, of: url, error: messageOf(error) }));
      }
      const waitMs = next > 0 ? retryMs[Math.min(next, retryMs.length) - 1] : refreshMs;
      if (waitMs && !leave.signal.aborted) timer = setTimeout(() => void again(next), waitMs);
    };
    const again = (failures: number): Promise<void> | void => {
      if (document.visibilityState === 'visible') return attempt(failures);
      document.addEventListener('visibilitychange', () => void again(failures), { once: true, signal: leave.signal });
    };
    void attempt(0);
    return () => {
      leave.abort();
      forget(url);
      clearTimeout(timer);
    };
  }, [url, round, refreshMs, isSignedOut]);
  return { ...state, reload: () => reload(undefined) };
}

/** A list of several pages: the items of all pages that were read, and whether there are more. */
export interface LoadedPages<Reply> {
  /** The first page. */
  readonly first: Loaded<Reply>;
  readonly more: readonly Reply[];
  readonly hasMore: boolean;
  /** The reason why the next page did not arrive. */
  readonly error: string;
  loadMore(): Promise<void>;
}

interface Pages<Reply> {
  readonly after: unknown;
  readonly pages: readonly Reply[];
  readonly error: string;
}

/**
 * Reads the first page of a list, and others when the reader calls for them. Without `refreshMs`
 * the other pages end when the first page is read again: between the pages an event could be
 * missing.
 */
export function usePages<Reply extends { readonly nextPage?: string }>(url: string, refreshMs = 0): LoadedPages<Reply> {
  const first = useData<Reply>(url, refreshMs);
  const after = refreshMs > 0 ? url : first.value;
  const [state, set] = useState<Pages<Reply>>({ after: undefined, pages: [], error: '' });
  const { pages, error } = state.after === after ? state : { pages: [], error: '' };
  const nextPage = (pages.at(-1) ?? first.value)?.nextPage ?? '';
  return {
    first,
    more: pages,
    hasMore: first.of === url && nextPage !== '',
    error,
    async loadMore() {
      try {
        const page = await request<Reply>(withField(url, 'page', nextPage));
        set({ after, pages: [...pages, page], error: '' });
      } catch (failure) {
        set({ after, pages, error: messageOf(failure) });
      }
    },
  };
}
