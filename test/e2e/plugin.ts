/** The project's plugin, called directly as its delegating plugin calls it: for what needs no link in a real sandbox. */
import { callPlugin, type CniAnswer, type CniCall, kubeOvnPlugin, podArgs } from '../harness/cni.ts';
import { macvlanConfig, type Scene } from './scene.ts';

export interface PluginCall extends Partial<Pick<CniCall, 'command' | 'config' | 'containerId' | 'netns' | 'env'>> {
  readonly pod: string;
  /** The network's name; its configuration is macvlan's unless `config` is given. */
  readonly network: string;
  /** K8S_POD_UID, as newer runtimes tell it; left out without. */
  readonly uid?: string;
}

/** Runs the plugin for `net1` of a Pod of namespace default: an ADD unless said otherwise. */
export function plugin(scene: Scene, { pod, network, uid, ...call }: PluginCall): Promise<CniAnswer> {
  return callPlugin({
    command: 'ADD',
    plugin: kubeOvnPlugin,
    config: { ...macvlanConfig(scene, `${network}.default`), name: network },
    containerId: `container-of-${pod}`,
    netns: '/var/run/netns/nowhere',
    ifName: 'net1',
    args: podArgs('default', pod, uid),
    journal: scene.stack.agents[0].journal,
    ...call,
  });
}

/** The addresses of a CNI result, with their prefix lengths; whatever else it is, if it is none. */
export function addressesIn({ result, stdout, stderr }: CniAnswer): readonly string[] | string {
  const ips = (result as { ips?: { address: string }[] } | undefined)?.ips;
  return ips?.map(({ address }) => address) ?? `${stdout}${stderr}`;
}
