/** The keys of annotations that the Kubernetes API accepts. */
import { isDnsSubdomain } from './ip-object-name.ts';

const maxNameLength = 63;
const keyName = /^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/;

/** Whether a text "<prefix>/<name>" can be the key of an annotation. The API accepts both letter cases. */
export function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/');
  const [prefix, name] = [key.slice(0, slash), key.slice(slash + 1)].map((text) => text.toLowerCase());
  return isDnsSubdomain(prefix ?? '') && (name ?? '').length <= maxNameLength && keyName.test(name ?? '');
}
