/** A Kubernetes API in memory that lists objects, and streams the changes that a spec makes. */
import { EventEmitter, on } from 'node:events';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';

interface StoredObject {
  readonly metadata: { readonly name: string; readonly namespace?: string } & Record<string, unknown>;
}

export class MemoryApi implements Api {
  readonly server = 'http://memory';
  readonly #changes = new EventEmitter();
  readonly #objects = new Map<string, Map<string, object>>();
  #version = 0;

  request({ path }: Parameters<Api['request']>[0]): Promise<unknown> {
    const items = [...(this.#objects.get(new URL(path, this.server).pathname)?.values() ?? [])];
    return Promise.resolve({ metadata: { resourceVersion: String(this.#version) }, items });
  }

  async *stream(path: string, { signal }: Parameters<Api['stream']>[1]): AsyncGenerator<unknown> {
    const { pathname, searchParams } = new URL(path, this.server);
    if (searchParams.has('sendInitialEvents')) throw new ApiError(422, 'this server streams no lists');
    for await (const [event] of on(this.#changes, pathname, { signal })) yield event;
  }

  /** Creates or changes an object of a collection, as "/api/v1/pods". */
  put(collection: string, object: StoredObject): void {
    const { name, namespace = '' } = object.metadata;
    const metadata = { uid: `uid-${name}`, ...object.metadata, resourceVersion: String(++this.#version) };
    const objects = this.#objects.get(collection) ?? new Map<string, object>();
    const key = `${namespace}/${name}`;
    const type = objects.has(key) ? 'MODIFIED' : 'ADDED';
    const stored = { ...object, metadata };
    this.#objects.set(collection, objects.set(key, stored));
    this.#changes.emit(collection, { type, object: stored });
  }
}
