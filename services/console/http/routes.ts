/** The table of routes: which view answers which path. */
import type { PersonalSession } from '../session/sessions.ts';
import { HttpError } from './http-error.ts';
import type { Query } from './query.ts';
import type { Reply } from './reply.ts';

export interface ViewRequest {
  /** The parts of the path, by their names in the route. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Aborted when the browser has gone. */
  readonly signal: AbortSignal;
}

/** Reads the data of a page. */
export type View = (request: ViewRequest) => Promise<Reply>;

/** Changes the ledger as the person who is signed in. */
export type Action = (
  session: PersonalSession,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Reply>;

export type Routes<Target> = Readonly<Record<string, Target>>;

export interface Match<Target> {
  readonly target: Target;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a path: "/subnets/:name/map". */
export function matchRoute<Target>(routes: Routes<Target>, path: string): Match<Target> | undefined {
  const given = path.split('/');
  for (const [route, target] of Object.entries(routes)) {
    const parts = route.split('/');
    if (parts.length !== given.length || !parts.every((part, index) => part.startsWith(':') || part === given[index]))
      continue;
    const named = parts.flatMap((part, index) =>
      part.startsWith(':') ? [[part.slice(1), decode(given[index] ?? '')] as const] : [],
    );
    return { target, params: Object.fromEntries(named) };
  }
  return undefined;
}

const maxPartLength = 253;

/** @throws HttpError for an invalid part of a path */
function decode(part: string): string {
  try {
    const text = decodeURIComponent(part);
    if (text !== '' && text.length <= maxPartLength) return text;
  } catch {
    // as a part that is too long
  }
  throw new HttpError(400, 'INVALID_REQUEST', 'a part of the path is empty, too long, or not encoded correctly');
}
