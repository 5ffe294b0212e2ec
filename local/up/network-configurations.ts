/**
 * NETCONFPATH: converts each NetworkAttachmentDefinition of the example manifests to a CNI
 * configuration list, as Multus does. A configuration without a name gets the name of the NAD.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { writeFileAtomically } from './state.ts';

/** The socket in the NADs of the example manifests. */
export const daemonSocket = '/run/openvswitch/kube-ovn-daemon.sock';

interface Manifest {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly spec?: { readonly config?: string };
}

interface Plugin {
  readonly cniVersion?: string;
  readonly name?: string;
  readonly server_socket?: string;
  readonly ipam?: { readonly server_socket?: string };
  readonly plugins?: readonly Plugin[];
}

/**
 * Writes the lists of all NADs in a folder of manifests.
 * @param socket replaces the socket of Kube-OVN, if agent 1 does not serve that.
 * @returns the networks' names
 */
export function writeNetworkConfigurations(manifests: string, into: string, socket: string): string[] {
  const names: string[] = [];
  for (const file of readdirSync(manifests)
    .filter((name) => name.endsWith('.yaml'))
    .sort()) {
    for (const document of parseAllDocuments(readFileSync(join(manifests, file), 'utf8'))) {
      const manifest = document.toJS() as Manifest | null;
      const list = manifest && configurationList(manifest, socket);
      if (!list) continue;
      names.push(list.name);
      writeFileAtomically(join(into, `${list.name}.conflist`), `${JSON.stringify(list, undefined, 2)}\n`);
    }
  }
  return names;
}

/**
 * Returns the configuration of a NAD as a named list; undefined for other objects, and for a NAD
 * without a configuration.
 */
export function configurationList(manifest: Manifest, socket: string) {
  const config = manifest.kind === 'NetworkAttachmentDefinition' ? manifest.spec?.config : undefined;
  if (config === undefined) return undefined;
  const {
    cniVersion = '0.3.1',
    name = manifest.metadata?.name ?? '',
    plugins,
    ...single
  } = JSON.parse(config) as Plugin;
  return { cniVersion, name, plugins: (plugins ?? [single]).map((plugin) => withSocket(plugin, socket)) };
}

function withSocket(plugin: Plugin, socket: string): Plugin {
  const own = plugin.server_socket === daemonSocket ? { server_socket: socket } : {};
  const ipam = plugin.ipam?.server_socket === daemonSocket ? { ipam: { ...plugin.ipam, server_socket: socket } } : {};
  return { ...plugin, ...own, ...ipam };
}
