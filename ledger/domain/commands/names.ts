/**
 * Validates names in commands. Names become parts of etcd keys, annotation keys, metric labels and
 * object names, so they must be valid in Kubernetes, container runtimes and Linux. Events of
 * earlier versions may hold other names, and are still applied.
 */

/** A name of a Kubernetes object: a DNS subdomain. */
export const isObjectName = (text: string): boolean => /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(text);

/** A namespace: a DNS label. */
export const isNamespace = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/** "<network>.<namespace>[.ovn]" or "ovn". No slash: it marks logical switches (`networkOf`). */
export const isProvider = (text: string): boolean =>
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text) && !text.includes('..');

/** A uid, a container id, a boot id, or a kind. */
export const isId = (text: string): boolean => /^[A-Za-z0-9][-\w.:]*$/.test(text);

/** A network interface name by CNI's rule: no slash, colon or space, and not "." or "..". */
export const isInterface = (text: string): boolean => /^(?!\.{1,2}$)[!-.0-9;-~]+$/.test(text);
