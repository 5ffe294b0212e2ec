/** An API server in memory, for specs: objects by path, resource versions, uid preconditions; and trouble on demand. */
import { type Api, ApiError, type ApiRequest } from './kubernetes/api.ts';
import { type Raw, record, text } from '../../lib/raw.ts';

type Stored = Record<string, unknown> & { metadata: Record<string, unknown> };

export class FakeApi implements Api {
  readonly server = 'http://fake';
  /** By path: "/api/v1/namespaces/default/pods/a". */
  readonly objects = new Map<string, Stored>();
  /** "METHOD /path" of every write, in order. */
  readonly writes: string[] = [];
  /** Asked before each request; what it returns is thrown. */
  trouble: ((request: ApiRequest) => ApiError | undefined) | undefined;
  /** Called after each write with the object's path, and what it is now. */
  onWrite: ((path: string, object: Raw | undefined) => void) | undefined;
  #version = 0;

  // An answer, or a refusal, is never there before the caller waits for it.
  async request(request: ApiRequest): Promise<unknown> {
    await Promise.resolve();
    const error = this.trouble?.(request);
    if (error) throw error;
    return this.#answer(request);
  }

  stream(): AsyncGenerator<unknown> {
    throw new Error('not served here');
  }

  /** Puts an object as it is. */
  put(path: string, object: Raw): void {
    const metadata = { uid: `uid-${path}`, ...record(object['metadata']), resourceVersion: String(++this.#version) };
    this.objects.set(path, { ...structuredClone(object), metadata });
  }

  #answer({ method, path, body }: ApiRequest): unknown {
    const found = this.objects.get(path.replace(/\/status$/, ''));
    if (method === 'GET') return structuredClone(this.#there(found, path));
    this.writes.push(`${method} ${path}`);
    const given = structuredClone(record(JSON.parse(JSON.stringify(body))));
    const metadata = record(given['metadata']);
    if (method === 'POST') {
      const place = `${path}/${text(metadata['name'])}`;
      if (this.objects.has(place)) throw new ApiError(409, `${place} already exists`);
      return this.#store(place, given);
    }
    const present = this.#there(found, path);
    const uid = text(metadata['uid'] ?? record(given['preconditions'])['uid']);
    if (uid !== '' && uid !== present.metadata['uid'])
      throw new ApiError(method === 'PATCH' ? 422 : 409, `${path}: the uid is another one`, { field: 'metadata.uid' });
    if (method === 'DELETE') {
      this.objects.delete(path);
      this.onWrite?.(path, undefined);
      return {};
    }
    const version = text(metadata['resourceVersion']);
    if (method === 'PUT' && version !== present.metadata['resourceVersion'])
      throw new ApiError(409, `${path} has been modified`);
    return this.#store(path.replace(/\/status$/, ''), method === 'PUT' ? given : merged(present, given));
  }

  #there(found: Stored | undefined, path: string): Stored {
    if (!found) throw new ApiError(404, `${path} not found`);
    return found;
  }

  #store(path: string, object: Raw): unknown {
    this.put(path, object);
    const stored = this.objects.get(path);
    this.onWrite?.(path, stored);
    return structuredClone(stored);
  }
}

/** RFC 7396 */
function merged(target: Raw, patch: Raw): Raw {
  const result: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (typeof value === 'object' && !Array.isArray(value))
      result[key] = merged(record(result[key]), record(value));
    else result[key] = value;
  }
  return result;
}
