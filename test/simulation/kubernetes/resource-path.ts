/** Paths of the Kubernetes API: the kind, the namespace and the object that they name. */

export interface ResourcePath {
  /** The collection of all namespaces: "/api/v1/pods". */
  readonly kind: string;
  /** undefined: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string | undefined;
  /** undefined: the collection. */
  readonly name: string | undefined;
  /** "status" or "binding"; "" for the object. */
  readonly subresource: string;
  readonly query: URLSearchParams;
}

export function parseResourcePath(text: string): ResourcePath {
  const { pathname, searchParams: query } = new URL(text, 'http://server');
  const parts = pathname.split('/').slice(1).map(decodeURIComponent);
  const prefix = parts.splice(0, parts[0] === 'api' ? 2 : 3).join('/');
  const isNamespaced = parts[0] === 'namespaces' && parts.length > 2;
  const namespace = isNamespaced ? parts[1] : undefined;
  const [plural = '', name, subresource = ''] = isNamespaced ? parts.slice(2) : parts;
  return { kind: `/${prefix}/${plural}`, namespace, name, subresource, query };
}
