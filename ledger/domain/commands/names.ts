/**
 * The names that commands may introduce. They become parts of etcd keys, annotation keys, metric
 * labels and object names, so only those are accepted that Kubernetes, container runtimes and Linux
 * can have. Events of earlier versions may have other names: they are still applied, and released.
 */

/** A name of a Kubernetes object: a DNS subdomain. */
export const isObjectName = (text: string): boolean => /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(text);

/** A namespace: a DNS label. */
export const isNamespace = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/** "<network>.<namespace>[.ovn]" or "ovn". A slash would name a logical switch (`networkOf`). */
export const isProvider = (text: string): boolean =>
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text) && !text.includes('..');

/** A uid, a container id, a boot id, or a kind. */
export const isId = (text: string): boolean => /^[A-Za-z0-9][-\w.:]*$/.test(text);

/** A network interface of Linux by CNI's rule: no slash, colon or space, and no "." or "..". */
export const isInterface = (text: string): boolean => /^(?!\.{1,2}$)[!-.0-9;-~]+$/.test(text);
