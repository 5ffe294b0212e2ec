/**
 * Keeps the HTTP/2 connection to one replica. The connection is opened when a call needs it, and
 * opened again after it has ended. Pings detect a replica that hangs. After a failed attempt, calls
 * fail immediately until the backoff ends, which doubles with each further failure.
 */
import { type ClientHttp2Session, connect, type SecureClientSessionOptions } from 'node:http2';
import { errorMessage } from '../../errors.ts';
import { CertificateReloader } from '../../tls/certificate-reloader.ts';
import { type ClientTls, serverMismatch, type ServerKind } from '../../tls/client-tls.ts';
import { type CallFailure, channelLimits, isCallFailure, tlsServerName } from '../channel.ts';
import { unsentFailure } from './failures.ts';
import { type PingIntervals, PingSchedule } from './ping-schedule.ts';

const { reconnect } = channelLimits;
/** The time limit for opening a connection, with TLS. */
const connectMs = 20_000;

interface Keepalive extends PingIntervals {
  /** The connection ends if a ping has no reply within this time. */
  readonly keepaliveTimeoutMs: number;
}

export interface SessionOptions {
  readonly keepalive?: Keepalive;
  /** Called when an open connection has ended, after its last reply. */
  readonly onDisconnected?: (() => void) | undefined;
}

export class SessionKeeper {
  readonly #endpoint: string;
  readonly #tls: ClientTls;
  readonly #server: ServerKind;
  readonly #keepalive: Keepalive;
  readonly #onDisconnected: () => void;
  #opened: Promise<ClientHttp2Session> | undefined;
  /** The open connection, and ended ones on which earlier calls still finish. */
  readonly #sessions = new Set<ClientHttp2Session>();
  /** Pings the open connection if a ping is due. */
  #onCall = (): void => undefined;
  #failures = 0;
  #lastFailure: { readonly error: CallFailure; readonly retryAt: number } | undefined;
  #isClosed = false;

  /** @param endpoint "host:port", or "unix:" and the path of a socket */
  constructor(endpoint: string, tls: ClientTls, server: ServerKind, options: SessionOptions = {}) {
    const { keepalive = channelLimits, onDisconnected = () => undefined } = options;
    this.#keepalive = keepalive;
    this.#onDisconnected = onDisconnected;
    this.#endpoint = endpoint;
    this.#tls = tls;
    this.#server = server;
  }

  /** Resolves with a connection. @throws CallFailure, immediately during the backoff */
  open(): Promise<ClientHttp2Session> {
    this.#onCall();
    if (this.#opened) return this.#opened;
    const opening = this.#connect();
    this.#opened = opening;
    opening.catch(() => {
      if (this.#opened === opening) this.#opened = undefined;
    });
    return opening;
  }

  /** Ends the connection and its calls. */
  close(): void {
    this.#isClosed = true;
    this.#opened = undefined;
    for (const session of this.#sessions) session.destroy();
    authoritiesOf(this.#tls)?.removeCaCertificateListener(this.#ignore);
  }

  /** Does nothing. The certificate files are polled only while there is a listener. */
  readonly #ignore = (): void => undefined;

  async #connect(): Promise<ClientHttp2Session> {
    try {
      if (this.#isClosed) throw unsentFailure('the connection was closed here');
      if (this.#lastFailure && performance.now() < this.#lastFailure.retryAt) throw this.#lastFailure.error;
      authoritiesOf(this.#tls)?.addCaCertificateListener(this.#ignore);
      const session = connect(...this.#target());
      this.#sessions.add(session);
      session.once('close', () => this.#sessions.delete(session));
      await untilReady(session);
      this.#failures = 0;
      this.#lastFailure = undefined;
      let isInUse = true;
      const forget = (): void => {
        if (isInUse) this.#opened = undefined;
        isInUse = false;
      };
      session.once('close', forget).once('goaway', forget).once('close', this.#onDisconnected);
      this.#onCall = keepAlive(session, this.#keepalive);
      return session;
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(error: unknown): CallFailure {
    if (isCallFailure(error)) return error;
    if (this.#isClosed) return unsentFailure(reasonOf(error));
    const waitMs = Math.min(reconnect.maxMs, reconnect.firstMs * 2 ** Math.min(this.#failures++, 10));
    const failure = unsentFailure(reasonOf(error));
    this.#lastFailure = { error: failure, retryAt: performance.now() + waitMs };
    return failure;
  }

  #target(): [authority: string, options: SecureClientSessionOptions] {
    const path = this.#endpoint.startsWith('unix:') ? this.#endpoint.slice('unix:'.length) : undefined;
    const host = path === undefined ? this.#endpoint : 'localhost';
    const options = { ...(path !== undefined && { path }), settings: { enablePush: false } };
    if (!this.#tls) return [`http://${host}`, options];
    return [`https://${host}`, { ...options, ...tlsOptions(this.#tls, this.#server) }];
  }
}

const authoritiesOf = (tls: ClientTls) => (tls && 'authorities' in tls ? tls.authorities : tls);

const tlsOptions = (tls: NonNullable<ClientTls>, server: ServerKind): SecureClientSessionOptions => ({
  ...(tls instanceof CertificateReloader ? tls.current : { ca: tls.authorities.current }),
  servername: tlsServerName,
  checkServerIdentity: (_host, { subjectaltname }) => serverMismatch(server, subjectaltname),
});

/** Resolves when the server has sent its settings. Rejects with the reason of the failure. */
function untilReady(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => session.destroy(new Error(`no connection within ${connectMs / 1_000} s`)),
      connectMs,
    );
    const end = (): void => clearTimeout(timer);
    // The listener stays. The calls of an open connection report its errors.
    session.on('error', reject);
    session.once('close', () => reject(new Error('Connection closed before the server replied')));
    session
      .once('close', end)
      .once('remoteSettings', end)
      .once('remoteSettings', () => resolve());
  });
}

/**
 * Pings the server, and ends the connection and its calls if no reply arrives in time. Returns a
 * function to call at the beginning of each call.
 */
function keepAlive(session: ClientHttp2Session, { keepaliveTimeoutMs, ...intervals }: Keepalive): () => void {
  const schedule = new PingSchedule(intervals, performance.now());
  let timeout: NodeJS.Timeout | undefined;
  const ping = (): void => {
    if (session.destroyed) return;
    timeout ??= setTimeout(
      () => session.destroy(new Error('Connection dropped: no reply to a ping')),
      keepaliveTimeoutMs,
    );
    timeout.unref();
    session.ping(() => {
      clearTimeout(timeout);
      timeout = undefined;
    });
  };
  const interval = setInterval(() => schedule.isDue(performance.now()) && ping(), intervals.keepaliveMs).unref();
  session.once('close', () => {
    clearInterval(interval);
    clearTimeout(timeout);
  });
  return () => {
    if (schedule.isDueAtCall(performance.now())) ping();
  };
}

/** The first reason: a name with several addresses has an error for each. */
function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return errorMessage(first);
}
