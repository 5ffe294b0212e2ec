/** GET, POST and DELETE /api/v1/session. */

export interface Session {
  /** Whether the person is signed in; if not, show the page for the token. */
  readonly signedIn: boolean;
  /** token: people sign in with a Kubernetes token. open: read-only, for this machine only. */
  readonly mode: 'token' | 'open';
  /** The actor that events name: "kubernetes:alice". '' while not signed in, and in mode open. */
  readonly user: string;
  /** The end of the session; '' for never. */
  readonly expiresAt: string;
  /** Whether the console offers actions. The allocator decides about each action. */
  readonly canAct: boolean;
  readonly version: string;
}

/** The body of POST /api/v1/session. The reply sets the cookie. */
export interface SignIn {
  readonly token: string;
}
