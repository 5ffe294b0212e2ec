/** The links in the node's network namespace, and the name that a NIC's link has there. */
import { readFile } from 'node:fs/promises';
import { DataPathError } from './data-path-error.ts';
import type { ContainerInterface } from '../bindings/binding-files.ts';

const maxName = 12;
/** Names with another meaning among sysctls. */
const reserved = new Set(['all', 'default', 'lo']);

/**
 * Returns the name of the link on the node, in Kube-OVN's form: the container ID's first
 * characters, the NIC, and `_h`. It has at most 15 characters, the limit of the kernel.
 * @throws DataPathError if the name of the NIC leaves no character for the container, or has
 * characters that commands do not accept
 */
export function hostLinkName({ containerId, interface: name }: ContainerInterface): string {
  const idLength = maxName - name.length;
  if (idLength < 1)
    throw new DataPathError(
      'settings',
      `interface name ${name} is too long for type kube-ovn: use at most 11 characters`,
    );
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(name) || reserved.has(name))
    throw new DataPathError(
      'settings',
      `interface name ${JSON.stringify(name)} cannot be used: use letters, digits, '_', '-' and '.', such as net1`,
    );
  return `${containerId.slice(0, idLength)}_${name}_h`;
}

/** Returns the name of the link on the node; undefined if a NIC cannot have this name. */
export function findHostLinkName(container: ContainerInterface): string | undefined {
  try {
    return hostLinkName(container);
  } catch {
    return undefined;
  }
}

/** Parses the names in /proc/net/dev, whose first two lines are a heading. */
export const parseLinkNames = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split('\n')
      .slice(2)
      .flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? []),
  );

/** Reads the names of all links in the agent's network namespace. */
export const readLinkNames = async (): Promise<ReadonlySet<string>> =>
  parseLinkNames(await readFile('/proc/net/dev', 'utf8'));
