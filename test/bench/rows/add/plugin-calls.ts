/** ADDs of IPAM plugins, as a main plugin such as macvlan sends them: ours, and the reference plugins `static` and `host-local`. */
import { join } from 'node:path';
import { callPlugin, kubeOvnPlugin, podArgs } from '../../../harness/cni.ts';
import { findPlugins } from '../../../harness/programs/find-program.ts';
import { type AddEnvironment, namespace, provider } from './add-environment.ts';

/** An ADD that succeeded. */
export interface AcknowledgedAdd {
  readonly pod: string;
  readonly containerId: string;
  /** As in the result, with the prefix length. */
  readonly address: string;
}

type IpamConfig = Readonly<Record<string, unknown>> & { readonly type: string };

const networkConfig = (ipam: IpamConfig): object => ({
  cniVersion: '1.0.0',
  name: 'lan',
  type: 'macvlan',
  master: 'eth0',
  mode: 'bridge',
  ipam,
});

/** ADD through our plugin and agent, with the durable bind. @throws Error with the output of a plugin that fails */
export async function addOurs({ socket }: AddEnvironment, pod: string): Promise<AcknowledgedAdd> {
  const containerId = `container-of-${pod}`;
  const ipam = { type: 'kube-ovn', server_socket: socket, provider };
  return { pod, containerId, address: await add(kubeOvnPlugin, ipam, { pod, containerId }) };
}

/** ADD through `static`, which only prints the address of its configuration. */
export const addStatic = async (name: string): Promise<string> =>
  add(
    join(await findPlugins(), 'static'),
    { type: 'static', addresses: [{ address: '10.64.0.2/12', gateway: '10.64.0.1' }] },
    { pod: name, containerId: name },
  );

/** ADD through `host-local`, which allocates in files of the node under one lock. */
export const addHostLocal = async ({ run }: AddEnvironment, name: string): Promise<string> =>
  add(
    join(await findPlugins(), 'host-local'),
    { type: 'host-local', ranges: [[{ subnet: '10.64.0.0/12' }]], dataDir: join(run.folder, 'host-local') },
    { pod: name, containerId: name },
  );

async function add(
  plugin: string,
  ipam: IpamConfig,
  { pod, containerId }: { readonly pod: string; readonly containerId: string },
): Promise<string> {
  const { code, result, stdout, stderr } = await callPlugin({
    command: 'ADD',
    plugin,
    config: networkConfig(ipam),
    containerId,
    netns: '/var/run/netns/nowhere',
    ifName: 'net1',
    args: podArgs(namespace, pod, pod),
  });
  const [ip] = (result as { ips?: { address: string }[] } | undefined)?.ips ?? [];
  if (code !== 0 || !ip) throw new Error(`ADD of ${ipam.type} for ${pod} failed: ${stdout}${stderr}`);
  return ip.address;
}
