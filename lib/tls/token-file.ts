/**
 * The bearer token of a client, in a file that the kubelet renews. The file is read again while the
 * client runs, so a renewed token needs no restart.
 */
import { errorMessage } from '../errors.ts';
import { readFileSync, statSync } from 'node:fs';

/** The longest token. A ServiceAccount token has 1 to 2 KiB. */
export const maxTokenLength = 8_192;

const maxAgeMs = 1_000;

/** Whether a text has the form of a ServiceAccount token. Verifies nothing. */
export const isTokenShaped = (text: string): boolean =>
  text.length <= maxTokenLength && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);

export class TokenFile {
  readonly #file: string;
  readonly #now: () => number;
  #latest: { readonly token: string; readonly readAt: number } | undefined;

  /**
   * @param now milliseconds from any origin
   * @throws Error if the file has no token now
   */
  constructor(file: string, now = () => performance.now()) {
    this.#file = file;
    this.#now = now;
    this.read();
  }

  /** Returns the token, at most 1 s behind the file. @throws Error without the file's content */
  read(): string {
    const now = this.#now();
    if (this.#latest && now - this.#latest.readAt < maxAgeMs) return this.#latest.token;
    this.#latest = undefined;
    const token = this.#readFile();
    this.#latest = { token, readAt: now };
    return token;
  }

  #readFile(): string {
    let text = '';
    try {
      // The limit leaves room for a line feed at the end.
      if (statSync(this.#file).size <= maxTokenLength + 1) text = readFileSync(this.#file, 'utf8').trim();
    } catch (error) {
      const reason = errorMessage(error);
      throw new Error(`the token file ${this.#file} cannot be read: ${reason}`, { cause: error });
    }
    if (isTokenShaped(text)) return text;
    throw new Error(
      `${this.#file} is not a ServiceAccount token of at most ${maxTokenLength} bytes: mount a projected serviceAccountToken with audience ipledger`,
    );
  }
}
