/** The watches of the model of etcd. */
import { keyValue, type WatchRequest } from './etcd-messages.ts';
import type { Change, KeyStore } from './key-store.ts';

type Create = NonNullable<WatchRequest['create_request']>;

interface Watch {
  readonly key: string;
  readonly end: string;
  readonly hasPrevious: boolean;
}

interface Stream {
  readonly watches: Map<string, Watch>;
  readonly send: (reply: object) => void;
}

const covers = ({ key, end }: Watch, name: string): boolean =>
  end === '' ? name === key : name >= key && (end === '\0' || name < end);

export class Watchers {
  readonly #streams = new Set<Stream>();
  readonly #header: () => object;

  constructor(header: () => object) {
    this.#header = header;
  }

  open(send: (reply: object) => void) {
    const watches = new Map<string, Watch>();
    const stream = { watches, send };
    this.#streams.add(stream);
    let lastId = -1;
    return {
      create: (request: Create, store: KeyStore): void => {
        const id = String(++lastId);
        const [key, rangeEnd] = [request.key.toString('latin1'), request.range_end.toString('latin1')];
        const start = Number(request.start_revision);
        const reply = { header: this.#header(), watch_id: id, events: [] };
        send({ ...reply, created: true });
        if (start > 0 && start <= store.compacted)
          return send({ ...reply, canceled: true, compact_revision: store.compacted });
        const watch = { key, end: rangeEnd, hasPrevious: request.prev_kv };
        watches.set(id, watch);
        if (start === 0 || start > store.revision) return;
        throw new Error('the model has no watches of the past: no program of the project opens one');
      },
      cancel: (id: string): void => {
        if (watches.delete(id)) send({ header: this.#header(), watch_id: id, events: [], canceled: true });
      },
      close: () => void this.#streams.delete(stream),
    };
  }

  notify(changes: readonly Change[], revision: number): void {
    for (const { watches, send } of this.#streams)
      for (const [id, watch] of watches) {
        const events = changes.filter(({ key }) => covers(watch, key)).map((each) => eventOf(each, watch, revision));
        if (events.length > 0) send({ header: this.#header(), watch_id: id, events });
      }
  }
}

function eventOf({ key, before, after }: Change, { hasPrevious }: Watch, revision: number): object {
  const deleted = { key: Buffer.from(key, 'latin1'), mod_revision: revision };
  return {
    type: after ? 'Put' : 'Delete',
    kv: after ? keyValue(after) : deleted,
    ...(hasPrevious && before && { prev_kv: keyValue(before) }),
  };
}
