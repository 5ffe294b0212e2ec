/**
 * The content of files that another program replaces, by rename or by writing. It is installed when
 * two polls read the same and it is valid. Until then the old content stays in use.
 *
 *   read ─► same as at the poll before? ─► valid? ─► installed
 *             no: possibly half written,     no: reported once,
 *             read again at the next poll    the old content stays
 *
 * So files that are replaced one after the other are installed together, when they match. The files
 * are polled, because a file watch misses how Kubernetes updates a mounted Secret: it changes a
 * symbolic link.
 */
import { errorMessage } from '../errors.ts';
import { createHash } from 'node:crypto';

const defaultPollIntervalMs = 1_000;

export interface StableFilesOptions<Files, Content> {
  /** Reads the files. @throws Error with the file that cannot be read */
  readonly read: () => Files;
  /** Checks the files. @throws Error with the reason to reject them */
  readonly validate: (files: Files) => Content;
  /** Called after new content is installed, before the listeners. */
  readonly onInstalled: (content: Content) => void;
  /** Called when files are rejected, once for each reason. */
  readonly onRejected: (reason: string) => void;
  readonly afterPoll?: () => void;
  readonly pollIntervalMs?: number | undefined;
}

/** The result of one read: the contents of the files, or an error; and a fingerprint. */
interface ReadResult<Files> {
  readonly fingerprint: string;
  readonly files: Files | Error;
}

/** Polls files while there is a listener. */
export class StableFiles<Files extends { readonly [Part in keyof Files]: Buffer }, Content> {
  readonly #options: StableFilesOptions<Files, Content>;
  readonly #listeners = new Map<unknown, (content: Content) => void>();
  #installed: { readonly fingerprint: string; readonly content: Content };
  #lastFingerprint: string;
  #lastReason = '';
  #timer: NodeJS.Timeout | undefined;

  /** @throws Error with the reason, if the files are invalid now */
  constructor(options: StableFilesOptions<Files, Content>) {
    this.#options = options;
    const { fingerprint, files } = this.#read();
    this.#installed = { fingerprint, content: this.#validate(files) };
    this.#lastFingerprint = fingerprint;
  }

  get current(): Content {
    return this.#installed.content;
  }

  /**
   * Calls `notify` with the present content, soon after this call, and with each new content.
   * @param key for `removeListener`
   */
  addListener(key: unknown, notify: (content: Content) => void): void {
    this.#listeners.set(key, notify);
    if (!this.#timer) {
      // Polls twice, to install files that have changed while there was no listener: the new
      // listener connects now.
      this.#poll();
      this.#poll();
      this.#timer = setInterval(() => this.#poll(), this.#options.pollIntervalMs ?? defaultPollIntervalMs);
      this.#timer.unref();
    }
    // Called later, because grpc-js is not ready for a call while it adds the listener.
    queueMicrotask(() => notify(this.current));
  }

  removeListener(key: unknown): void {
    this.#listeners.delete(key);
    if (this.#listeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    const { fingerprint, files } = this.#read();
    const isStable = fingerprint === this.#lastFingerprint;
    this.#lastFingerprint = fingerprint;
    if (fingerprint === this.#installed.fingerprint) this.#lastReason = '';
    else if (isStable) this.#install(fingerprint, files);
    this.#options.afterPoll?.();
  }

  #install(fingerprint: string, files: Files | Error): void {
    try {
      this.#installed = { fingerprint, content: this.#validate(files) };
    } catch (error) {
      const reason = errorMessage(error);
      if (reason !== this.#lastReason) this.#options.onRejected(reason);
      this.#lastReason = reason;
      return;
    }
    this.#lastReason = '';
    const { content } = this.#installed;
    this.#options.onInstalled(content);
    for (const notify of this.#listeners.values()) notify(content);
  }

  #validate(files: Files | Error): Content {
    if (files instanceof Error) throw files;
    return this.#options.validate(files);
  }

  #read(): ReadResult<Files> {
    try {
      const files = this.#options.read();
      const hash = createHash('sha256');
      for (const part of Object.values<Buffer>(files)) hash.update(`${part.length} `).update(part);
      return { fingerprint: hash.digest('hex'), files };
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error));
      return { fingerprint: problem.message, files: problem };
    }
  }
}
