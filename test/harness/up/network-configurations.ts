/**
 * NETCONFPATH: each NetworkAttachmentDefinition of the documents' manifests as a CNI configuration list, as Multus makes
 * one: under the NAD's name when the configuration has none of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { writeWhole } from './state.ts';

/** Where the documents' NADs look for the agent. */
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
 * @param socket takes the place of Kube-OVN's socket, for when another than our agent listens there, or nobody.
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
      writeWhole(join(into, `${list.name}.conflist`), `${JSON.stringify(list, undefined, 2)}\n`);
    }
  }
  return names;
}

/** A NAD's configuration as a list under the name that it is known by; undefined for any other object, or a NAD without one. */
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
