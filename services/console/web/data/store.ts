/** A value that components follow. */
import { useEffect, useState } from 'preact/hooks';

export interface Store<Value> {
  readonly value: Value;
  set(value: Value): void;
  follow(listener: () => void): () => void;
}

export function createStore<Value>(value: Value): Store<Value> {
  const listeners = new Set<() => void>();
  const store = {
    value,
    set(next: Value) {
      if (next === store.value) return;
      store.value = next;
      for (const listener of listeners) listener();
    },
    follow(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return store;
}

/** The current value. The component is rendered again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, render] = useState({});
  const { value } = store;
  useEffect(() => {
    const stop = store.follow(() => render({}));
    // An effect runs after the next frame, and the value may have changed before
    if (store.value !== value) render({});
    return stop;
  }, [store]);
  return value;
}
