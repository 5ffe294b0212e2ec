/**
 * The API server as a host of the simulated network: it answers requests at their arrival, and
 * serves watches with bookmarks, also those that begin with a list.
 */
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { ApiRequest } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { Network } from '../kernel/network.ts';
import type { Server } from '../kernel/network-call.ts';
import type { Machine } from '../kernel/machine.ts';
import type { World } from '../kernel/world.ts';
import { type ApiServer, metadataOnlyIf } from './api-server.ts';
import { parseResourcePath } from './resource-path.ts';

const bookmarkMs = 60_000;
/** The last bookmark precedes the end of a watch by this time. */
const lastBookmarkMs = 2_000;
const defaultWatchMs = 1_800_000;

type Push = (line: unknown) => void;
type End = (error?: Error) => void;

export class SimulatedApiServer implements Server {
  readonly name = 'kube-apiserver';
  readonly machine: Machine;
  readonly network: Network;
  readonly model: ApiServer;
  readonly #world: World;
  /** The error of the next requests: the server is overloaded. */
  refusal: (() => ApiError | undefined) | undefined;
  /** How late the next changes are in a watch: its cache is behind. */
  watchLagMs: () => number = () => 0;
  /** Ends the open watches. */
  readonly #open = new Set<() => void>();

  constructor(world: World, network: Network, model: ApiServer) {
    this.#world = world;
    this.machine = world.machine(this.name);
    this.network = network;
    this.model = model;
  }

  /** @throws ApiError */
  answer(request: ApiRequest): unknown {
    const refusal = this.refusal?.();
    if (refusal) throw refusal;
    return this.model.handle(request);
  }

  /** Ends all watches, as a restart of the server does. */
  endWatches(): void {
    for (const end of this.#open) end();
  }

  /** Serves a watch. Returns its end by the client. */
  open(path: string, accept: string, push: Push, end: End): () => void {
    const target = parseResourcePath(path);
    const { query } = target;
    const isMetadataOnly = accept.includes('as=PartialObjectMetadata');
    const send = (type: string, object: unknown): void =>
      push({ type, object: structuredClone(metadataOnlyIf(isMetadataOnly, object)) });
    const bookmark = (annotations?: object): void =>
      push({
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: String(version), ...(annotations && { annotations }) } },
      });
    let version = Number(query.get('resourceVersion') ?? 0);
    const follow = (): void => {
      for (const change of this.model.changesAfter(target, version)) send(change.type, change.object);
      version = Math.max(version, this.model.version);
      isBehind = false;
    };
    let isBehind = false;
    const followLater = (): void => {
      if (isBehind) return;
      const lagMs = this.watchLagMs();
      if (lagMs === 0) return follow();
      isBehind = true;
      timers.push(this.#world.after(lagMs, () => this.#followOrExpire(follow, push, close)));
    };
    const timers: (() => void)[] = [];
    const close = (): void => {
      stop();
      this.#open.delete(close);
      for (const cancel of timers) cancel();
      end();
    };
    let stop = (): void => undefined;
    try {
      const refusal = this.refusal?.();
      if (refusal) throw refusal;
      if (query.get('sendInitialEvents') === 'true') {
        for (const object of this.model.objectsOf(target)) send('ADDED', object);
        version = this.model.version;
        bookmark({ 'k8s.io/initial-events-end': 'true' });
      }
      follow();
    } catch (error) {
      refuse(error, push, end);
      return () => undefined;
    }
    stop = this.model.onChange(followLater);
    this.#open.add(close);
    const watchMs = Number(query.get('timeoutSeconds') ?? 0) * 1_000 || defaultWatchMs;
    const repeatBookmark = (): void => {
      bookmark();
      timers.push(this.#world.after(bookmarkMs, repeatBookmark));
    };
    if (query.get('allowWatchBookmarks') === 'true') {
      timers.push(this.#world.after(bookmarkMs, repeatBookmark));
      timers.push(this.#world.after(Math.max(0, watchMs - lastBookmarkMs), () => bookmark()));
    }
    timers.push(this.#world.after(watchMs, close));
    return close;
  }

  /** The history may have been compacted in the meantime. */
  #followOrExpire(follow: () => void, push: Push, close: () => void): void {
    try {
      follow();
    } catch (error) {
      refuse(error, push, close);
    }
  }
}

/** A version that is too old is an event of a stream; other errors are a response of their own. */
function refuse(error: unknown, push: Push, end: End): void {
  if (!(error instanceof ApiError) || error.status !== 410) return end(error as Error);
  push({ type: 'ERROR', object: { kind: 'Status', code: error.status, message: error.reason, reason: 'Expired' } });
  end();
}
