/** Sends requests to one API server over kept-alive connections, with current credentials. */
import http from 'node:http';
import https from 'node:https';
import { createSecureContext } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { trustPublicAuthorities } from '../../tls/public-authorities.ts';
import type { ClusterAccess } from './cluster-access.ts';

export interface OutgoingRequest {
  readonly method: string;
  /** The path, including the query. */
  readonly path: string;
  readonly body?: unknown;
  /** The type of the body. Default: application/json. */
  readonly contentType?: string;
  /** The type of the response. Default: application/json. */
  readonly accept?: string;
  /** Whether the server may compress the response. Default: no. */
  readonly compressed?: boolean;
}

/** A request that was sent. */
export interface SentRequest {
  /** Resolves with the status and headers of the response. Rejects if there is none. */
  readonly response: Promise<http.IncomingMessage>;
  /** Ends the request and its response with an error. Has no effect after the response. */
  readonly cancel: () => void;
}

type TlsSettings = Pick<https.RequestOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;

export type Send = (request: OutgoingRequest) => SentRequest;

const credentialsMaxAgeMs = 10_000;
const agentSettings = { keepAlive: true, maxSockets: 64 };

/** @param server the URL of the API server */
export function createSender(config: ClusterAccess, server: string): Send {
  const url = new URL(server);
  const { hostname, port } = urlToHttpOptions(url);
  const base = url.pathname.replace(/\/$/, '');
  const isSecure = url.protocol === 'https:';
  const connections = new Connections(config, isSecure);

  return ({ method, path, body, contentType, accept = 'application/json', compressed = false }) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    let request: http.ClientRequest | undefined;
    let isCancelled = false;
    const start = (options: https.RequestOptions): void => {
      if (isCancelled) return;
      const headers: http.OutgoingHttpHeaders = {
        ...(options.headers as http.OutgoingHttpHeaders),
        accept,
        ...(compressed && { 'accept-encoding': 'gzip' }),
        ...(bytes && { 'content-type': contentType ?? 'application/json', 'content-length': bytes.length }),
      };
      const target = { ...options, hostname, port, path: base + path, method, headers };
      request = (isSecure ? https : http).request(target, (response) => {
        if (response.statusCode === 401) connections.expire();
        resolve(response);
      });
      // The listener stays, for errors after the promise has resolved.
      request.on('error', reject);
      request.end(bytes);
    };
    connections.use(start, reject);
    const cancel = (): void => {
      isCancelled = true;
      const reason = new Error('the request was cancelled');
      reject(reason);
      request?.destroy(reason);
    };
    return { response: promise, cancel };
  };
}

/**
 * The agent and the headers for the current credentials. Files and tokens are read again at
 * intervals, so that renewed ones are used. A renewed certificate gets its own connections.
 */
class Connections {
  readonly #config: ClusterAccess;
  readonly #isSecure: boolean;
  /** The agent and headers of each request. */
  #options: https.RequestOptions = {};
  #agent: http.Agent | undefined;
  /** The certificates and TLS settings of the agent. */
  #identity: TlsSettings | undefined;
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(config: ClusterAccess, isSecure: boolean) {
    this.#config = config;
    this.#isSecure = isSecure;
  }

  /** Calls `start` with agent and headers, at once if known, never if an exec plugin hangs. */
  use(start: (options: https.RequestOptions) => void, fail: (error: unknown) => void): void {
    if (performance.now() - this.#readAt <= credentialsMaxAgeMs) {
      start(this.#options);
      return;
    }
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    this.#reading.then(() => start(this.#options)).catch(fail);
  }

  /** Makes the next request read the credentials again. */
  expire(): void {
    this.#readAt = -Infinity;
  }

  async #read(): Promise<void> {
    const options: https.RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    if (this.#isSecure && options.ca === undefined) trustPublicAuthorities();
    // Keeps the options, because they contain the agent of the proxy.
    if (this.#config.getCurrentCluster()?.proxyUrl !== undefined) this.#options = options;
    else {
      this.#replaceAgent(options);
      this.#options = { ...(options.headers && { headers: options.headers }), agent: this.#agent };
      if (options.auth !== undefined) this.#options.auth = options.auth;
    }
    this.#readAt = performance.now();
  }

  #replaceAgent({ ca, cert, key, servername, rejectUnauthorized }: https.RequestOptions): void {
    const identity: TlsSettings = {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    };
    if (isDeepStrictEqual(this.#identity, identity)) return;
    retire(this.#agent);
    this.#agent = this.#isSecure ? createSecureAgent(identity) : new http.Agent(agentSettings);
    this.#identity = identity;
  }
}

/** All connections of the agent share the parsed certificates. */
const createSecureAgent = (identity: TlsSettings): SecureAgent =>
  new SecureAgent({ ...agentSettings, ...identity, secureContext: createSecureContext(identity) });

/** An agent for one server and identity. Its connections have short names. */
class SecureAgent extends https.Agent {
  override getName(): string {
    return 'the API server';
  }
}

/** Lets the agent's requests finish, then closes its connections. */
function retire(agent: http.Agent | undefined): void {
  if (!agent) return;
  Object.assign(agent, { keepAlive: false });
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
}
