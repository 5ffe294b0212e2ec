/** The cookie of a session. */
import type { IncomingHttpHeaders } from 'node:http';

const name = 'ipledger-console';
/** The name with TLS. A browser accepts the prefix only with Secure, path "/" and no domain. */
const secureName = `__Host-${name}`;

const cookieName = (isSecure: boolean): string => (isSecure ? secureName : name);

/** Formats the cookie. @param id '' ends the session in the browser */
export function sessionCookie(id: string, isSecure: boolean): string {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', ...(isSecure ? ['Secure'] : [])];
  return [`${cookieName(isSecure)}=${id}`, ...attributes, ...(id === '' ? ['Max-Age=0'] : [])].join('; ');
}

/** Reads the id; '' without exactly one cookie of this name. */
export function sessionIdIn({ cookie = '' }: IncomingHttpHeaders, isSecure: boolean): string {
  const prefix = `${cookieName(isSecure)}=`;
  const found = cookie.split('; ').filter((each) => each.startsWith(prefix));
  return found.length === 1 ? (found[0] ?? '').slice(prefix.length) : '';
}
