/** Refuses requests that another site makes in the browser of a person (CSRF, DNS rebinding). */
import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from './http-error.ts';

/** The header of requests. A page of another site cannot set it: its preflight is not answered. */
export const consoleHeader = 'x-ipledger-console';

const denied = (message: string): HttpError => new HttpError(403, 'PERMISSION_DENIED', message);

/** @throws HttpError unless the request can only come from a page of the console */
export function refuseOtherOrigins({
  headers,
  method = '',
}: {
  headers: IncomingHttpHeaders;
  method?: string | undefined;
}): void {
  const site = headers['sec-fetch-site'];
  const isRead = method === 'GET' || method === 'HEAD';
  // A link from another site may open a page, but no other site reads data or acts
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw denied('the request comes from another site');
  const { origin } = headers;
  const isOwn = origin !== undefined && hostOf(origin) === headers.host;
  // A browser without the header above sends the origin of a script also with its reads
  if (!isOwn && (origin !== undefined || !isRead)) throw denied('the request comes from another origin');
  if (!isRead && headers[consoleHeader] === undefined) throw denied(`the header ${consoleHeader} is missing`);
}

/** Returns the host of an origin; undefined for no URL, as the origin "null". */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;

/** Refuses hosts other than loopback: an attacker's name may resolve to this machine. */
export function refuseOtherHosts(headers: IncomingHttpHeaders): void {
  if (!loopbackHost.test(headers.host ?? ''))
    throw denied('without sign-in the console answers to localhost and 127.0.0.1 only');
}
