/**
 * The address of a page: its path names the view and its subject, its query the time, the selection
 * and the filters. The address is the only place where these are kept, so a copied address shows
 * the same page.
 */

export interface Place {
  /** The decoded parts of the path: ["subnets", "lan"]. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export function parsePlace(href: string): Place {
  const { pathname, searchParams } = new URL(href, 'http://console');
  const path = pathname.split('/').filter((part) => part !== '');
  return { path: path.map(decodePart), query: Object.fromEntries(searchParams) };
}

/** Decodes a part. A part that is no valid escape stays as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a place. Empty values are left out, and the order is that of the fields. */
export function hrefOf(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '');
  const search = new URLSearchParams(set).toString();
  return `/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Adds a field to an address. */
export const withField = (href: string, name: string, value: string): string =>
  `${href}${href.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`;

export const subnetHref = (subnet: string, query = {}): string => hrefOf(['subnets', subnet], query);
export const addressHref = (subnet: string, address: string): string => hrefOf(['subnets', subnet, address]);
export const podHref = (namespace: string, pod: string): string => hrefOf(['pods', namespace, pod]);
