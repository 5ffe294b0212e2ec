/** Test support: an API server that sends the responses that a spec scripts. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { type Api, connectApi } from '../kubernetes-api.ts';

type Response = http.ServerResponse;
/** Writes one response. */
export type Reply = (response: Response, url: URL) => void;

export class ScriptedApiServer {
  readonly requests: URL[] = [];
  /** The replies to requests other than watches, in order. The last one is repeated. */
  readonly replies: Reply[] = [];
  /** The replies to watches, in order. The last one is repeated. */
  readonly watches: Reply[] = [];
  /**
   * The replies to streamed lists, in order; the last one is repeated. If empty, the server rejects
   * streamed lists.
   */
  readonly streams: Reply[] = [];
  /** The version in the response to a list with limit 1. */
  version = '1000000';
  readonly #server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://server');
    this.requests.push(url);
    if (url.searchParams.get('limit') === '1') return listReply(this.version)(response, url);
    const queue = isStream(url) ? this.streams : url.searchParams.has('watch') ? this.watches : this.replies;
    const reply = (queue.length > 1 ? queue.shift() : queue[0]) ?? errorReply(isStream(url) ? 422 : 500, 'no reply');
    reply(response, url);
  });

  /** @param basePath a path that precedes every API path */
  async start(basePath = ''): Promise<Api> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return connectApi(kubeConfigFor(this.url + basePath));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get watchQueries(): URLSearchParams[] {
    const watches = this.requests.filter((url) => url.searchParams.has('watch') && !isStream(url));
    return watches.map(({ searchParams }) => searchParams);
  }

  /** The number of requests that listed objects in pages. */
  get listCount(): number {
    const isList = (url: URL): boolean => !url.searchParams.has('watch') && url.searchParams.get('limit') !== '1';
    return this.requests.filter(isList).length;
  }
}

const isStream = (url: URL): boolean => url.searchParams.has('sendInitialEvents');

/** A kubeconfig with the token "secret". */
export function kubeConfigFor(server: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: true }, { name: 'u', token: 'secret' });
  return config;
}

/** Replies with a list of these objects on one page. */
export const listReply =
  (version: string, ...items: object[]): Reply =>
  (response) =>
    void response.end(JSON.stringify({ metadata: { resourceVersion: version }, items }));

/** Replies with an error in the API server's form. */
export const errorReply =
  (code: number, message: string): Reply =>
  (response) =>
    void response
      .writeHead(code, { 'content-type': 'application/json' })
      .end(JSON.stringify({ kind: 'Status', code, message, reason: 'Expired' }));

/** Sends the texts and leaves the response open. */
export const openReply =
  (...texts: string[]): Reply =>
  (response) =>
    void response.write(texts.join(''));

/** Sends the texts and ends the response. */
export const completeReply =
  (...texts: string[]): Reply =>
  (response) =>
    void response.end(texts.join(''));

/** Sends the texts and resets the connection. */
export const brokenReply =
  (...texts: string[]): Reply =>
  (response) =>
    void response.write(texts.join(''), () => response.socket?.resetAndDestroy());
