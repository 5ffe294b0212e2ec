/** Checks of NICs from inside the sandboxes of Pods. */
import { expect } from 'chai';
import { inNamespace, ip, type Namespace } from '../../../../test/harness/network/network-namespaces.ts';

/** Reads the names of the links in a namespace. */
export async function readLinks(namespace: Namespace): Promise<string[]> {
  const links = JSON.parse(await ip(namespace, ['-json', 'link', 'show'])) as { ifname: string }[];
  return links.map(({ ifname }) => ifname);
}

/** Expects that an address answers within 30 s. */
export async function expectPing(from: Namespace, address: string): Promise<void> {
  const { code, stdout } = await inNamespace(from, ['ping', '-c', '1', '-w', '30', address]);
  expect(code, stdout).to.equal(0);
}
