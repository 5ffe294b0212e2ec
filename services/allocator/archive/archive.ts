/** Where sealed stretches of the log are kept for good: the port. */

/** Both methods throw IpledgerError UNAVAILABLE, or an AbortError when the signal is aborted. */
export interface Archive {
  /** Where it is, in words. */
  readonly location: string;
  /** Keeps an object for good, before it resolves. What is there under the name already is the same: names say the content. */
  put(name: string, content: Buffer, signal: AbortSignal): Promise<void>;
  /** undefined when there is none. */
  get(name: string, signal: AbortSignal): Promise<Buffer | undefined>;
}
