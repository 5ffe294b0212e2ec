/** The client of one program to the model of the API server, over the simulated network. */
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { Api, ApiRequest, StreamOptions } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { errorMessage } from '../../../lib/errors.ts';
import type { Program } from '../kernel/program.ts';
import type { SimulatedApiServer } from './simulated-api-server.ts';

/** @param from the program that calls */
export function simulatedApi(from: Program, server: SimulatedApiServer): Api {
  return {
    server: 'https://simulated',
    request: (request) => exchange(from, server, request),
    stream: (path, options) => streamLines(from, server, path, options),
  };
}

async function exchange(from: Program, server: SimulatedApiServer, request: ApiRequest): Promise<unknown> {
  const { method, path, signal, timeoutMs, discardBody } = request;
  signal.throwIfAborted();
  try {
    const reply = await server.network.request(from, server, () => server.answer(request), { timeoutMs, signal });
    return discardBody ? undefined : reply;
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    throw new ApiError(0, errorMessage(error), { request: `${method} ${path}`, cause: error });
  }
}

async function* streamLines(
  from: Program,
  server: SimulatedApiServer,
  path: string,
  { accept = '', silenceMs, signal }: StreamOptions,
): AsyncGenerator<unknown> {
  if (signal.aborted) return;
  const lines: unknown[] = [];
  let end: { readonly error: unknown } | undefined;
  let wake = (): void => undefined;
  const finish = (error: unknown): void => {
    end ??= { error };
    wake();
  };
  const expire = (): void => finish(new ApiError(0, `no data for ${silenceMs} ms`));
  const abort = (): void => finish(undefined);
  let watchdog = setTimeout(expire, silenceMs);
  signal.addEventListener('abort', abort);
  const onLine = (line: unknown): void => {
    lines.push(line);
    wake();
  };
  const close = openWatch(from, server, { path, accept, onEnd: finish, onLine });
  try {
    for (;;) {
      for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
        yield line;
        clearTimeout(watchdog);
        watchdog = setTimeout(expire, silenceMs);
      }
      if (signal.aborted) return;
      if (end) break;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', abort);
    close();
  }
  const { error } = end;
  if (error instanceof ApiError) throw error;
  if (error !== undefined) throw new ApiError(0, errorMessage(error), { request: `GET ${path}`, cause: error });
}

interface OpenedWatch {
  readonly path: string;
  readonly accept: string;
  readonly onEnd: (error: unknown) => void;
  readonly onLine: (line: unknown) => void;
}

/** Opens a watch over the network. Returns its end by the client. */
function openWatch(
  from: Program,
  server: SimulatedApiServer,
  { path, accept, onEnd, onLine }: OpenedWatch,
): () => void {
  let isCancelled = false;
  let closeAtServer = (): void => undefined;
  const onCancel = (): void => {
    isCancelled = true;
    closeAtServer();
  };
  const call = server.network.open(from, server, { onLost: onEnd, onCancel });
  call.toServer(() => {
    if (isCancelled) return;
    const end = (error?: Error): void =>
      call.toClient(() => {
        call.close();
        onEnd(error);
      });
    closeAtServer = server.open(path, accept, (line) => call.toClient(() => onLine(line)), end);
  });
  return () => call.cancel();
}
