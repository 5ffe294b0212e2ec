/** The fields that all replies of the console have. Instants are RFC 3339 in UTC. */

/** The place in the ledger at which a reply is true. */
export interface ReplyPosition {
  readonly epoch: number;
  readonly seq: number;
}

export interface Reply {
  readonly position: ReplyPosition;
  /** The command of `ipledger` with the same answer; '' for none. */
  readonly command: string;
}

/** A page of a list. `nextPage` is '' on the last page; send it as `page`. */
export interface Page<Item> extends Reply {
  readonly items: readonly Item[];
  readonly nextPage: string;
}

/** The body of every reply with a status of 400 and above. */
export interface ApiError {
  /** A code of docs/error-codes.md, as "UNAUTHENTICATED". */
  readonly code: string;
  /** The message: what failed, why, and what to do. */
  readonly message: string;
}
