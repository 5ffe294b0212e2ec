/** The command that puts right a key in etcd of which verification says that it is wrong. */
import { command } from './check/say.ts';

/** What is mended by nothing but a backup, since all else follows from it. */
const log = /^\/ipledger\/v1\/(log\/.*|head)$/;

/** Whether there is such a command for a key. */
export const isMended = (key: string): boolean => !log.test(key);

/** @param finding `expected`: what the key should hold by the log; '' or undefined where it should not be there. */
export function mendingOf({ key, expected = '' }: { readonly key: string; readonly expected?: string }): string {
  if (!isMended(key))
    return command(['etcdctl', 'get', key], 'docs/audit.md tells what this proves; nothing but a backup mends the log');
  return expected === ''
    ? command(['etcdctl', 'del', key], 'the log says nothing of it; then restart the allocators')
    : command(['etcdctl', 'put', key, expected], 'what the log says of it; then restart the allocators');
}
