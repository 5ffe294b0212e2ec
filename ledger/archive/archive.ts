/** The port to the archive: the store of segments. */

/** Both methods throw IpledgerError UNAVAILABLE, or an AbortError when the signal is aborted. */
export interface Archive {
  /** For messages: "folder /a", "s3 https://…". */
  readonly location: string;
  /** Stores a file durably before it resolves. An existing file of this name has the same content, because names contain its hash. */
  put(name: string, content: Buffer, signal: AbortSignal): Promise<void>;
  /** Reads a file; undefined if it does not exist. */
  get(name: string, signal: AbortSignal): Promise<Buffer | undefined>;
}
