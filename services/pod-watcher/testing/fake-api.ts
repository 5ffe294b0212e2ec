/**
 * An API server in memory for specs, with objects by path, resource versions, uid preconditions,
 * and errors on demand.
 */
import type { Api, ApiRequest } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { type UntypedJson, asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';

type Stored = Record<string, unknown> & { metadata: Record<string, unknown> };

export class FakeApi implements Api {
  readonly server = 'http://fake';
  /** Objects by path, such as "/api/v1/namespaces/default/pods/a". */
  readonly objects = new Map<string, Stored>();
  /** The writes as "METHOD /path", in order. */
  readonly writes: string[] = [];
  /** Called before each request. The request fails with the error that it returns. */
  failRequest: ((request: ApiRequest) => ApiError | undefined) | undefined;
  /** Called after each write with the path and the new object; undefined after a deletion. */
  onWrite: ((path: string, object: UntypedJson | undefined) => void) | undefined;
  #version = 0;

  // Replies after the caller's await, as a real server does.
  async request(request: ApiRequest): Promise<unknown> {
    await Promise.resolve();
    const error = this.failRequest?.(request);
    if (error) throw error;
    return this.#reply(request);
  }

  stream(): AsyncGenerator<unknown> {
    throw new Error('the fake API server serves no streams');
  }

  /** Stores an object with a new resourceVersion. */
  put(path: string, object: UntypedJson): void {
    const metadata = { uid: `uid-${path}`, ...asRecord(object['metadata']), resourceVersion: String(++this.#version) };
    this.objects.set(path, { ...structuredClone(object), metadata });
  }

  #reply({ method, path, body }: ApiRequest): unknown {
    const found = this.objects.get(path.replace(/\/status$/, ''));
    if (method === 'GET') return structuredClone(this.#existing(found, path));
    this.writes.push(`${method} ${path}`);
    const given = structuredClone(asRecord(JSON.parse(JSON.stringify(body))));
    const metadata = asRecord(given['metadata']);
    if (method === 'POST') {
      const objectPath = `${path}/${asText(metadata['name'])}`;
      if (this.objects.has(objectPath)) throw new ApiError(409, `${objectPath} already exists`);
      return this.#store(objectPath, given);
    }
    const present = this.#existing(found, path);
    const uid = asText(metadata['uid'] ?? asRecord(given['preconditions'])['uid']);
    if (uid !== '' && uid !== present.metadata['uid'])
      throw new ApiError(method === 'PATCH' ? 422 : 409, `${path}: the uid does not match`, { field: 'metadata.uid' });
    if (method === 'DELETE') {
      this.objects.delete(path);
      this.onWrite?.(path, undefined);
      return {};
    }
    const version = asText(metadata['resourceVersion']);
    if (method === 'PUT' && version !== present.metadata['resourceVersion'])
      throw new ApiError(409, `${path} has been modified`);
    return this.#store(path.replace(/\/status$/, ''), method === 'PUT' ? given : merged(present, given));
  }

  #existing(found: Stored | undefined, path: string): Stored {
    if (!found) throw new ApiError(404, `${path} not found`);
    return found;
  }

  #store(path: string, object: UntypedJson): unknown {
    this.put(path, object);
    const stored = this.objects.get(path);
    this.onWrite?.(path, stored);
    return structuredClone(stored);
  }
}

/** Merges a patch as RFC 7396 describes. */
function merged(target: UntypedJson, patch: UntypedJson): UntypedJson {
  const result: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (typeof value === 'object' && !Array.isArray(value))
      result[key] = merged(asRecord(result[key]), asRecord(value));
    else result[key] = value;
  }
  return result;
}
