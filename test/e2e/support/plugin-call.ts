/**
 * Calls the project's plugin directly, as the delegating plugin does, for tests that need no link
 * in a real sandbox.
 */
import { callPlugin, type CniAnswer, type CniCall, kubeOvnPlugin, podArgs } from '../../harness/cni.ts';
import { macvlanConfig, type TestEnvironment } from './test-environment.ts';

export interface PluginCall extends Partial<Pick<CniCall, 'command' | 'config' | 'containerId' | 'netns' | 'env'>> {
  readonly pod: string;
  /** The network's name; its configuration is macvlan's unless `config` is given. */
  readonly network: string;
  /** The uid in K8S_POD_UID, which newer runtimes set. */
  readonly uid?: string;
}

/** Runs the plugin for `net1` of a Pod in namespace default; ADD by default. */
export function callKubeOvnPlugin(
  scene: TestEnvironment,
  { pod, network, uid, ...call }: PluginCall,
): Promise<CniAnswer> {
  return callPlugin({
    command: 'ADD',
    plugin: kubeOvnPlugin,
    config: { ...macvlanConfig(scene, `${network}.default`), name: network },
    containerId: `container-of-${pod}`,
    netns: '/var/run/netns/nowhere',
    ifName: 'net1',
    args: podArgs('default', pod, uid),
    pendingDels: scene.stack.agents[0].pendingDels,
    ...call,
  });
}

/**
 * Returns the addresses of a CNI result, with prefix lengths; the output of the plugin if it has no
 * result.
 */
export function resultAddresses({ result, stdout, stderr }: CniAnswer): readonly string[] | string {
  const ips = (result as { ips?: { address: string }[] } | undefined)?.ips;
  return ips?.map(({ address }) => address) ?? `${stdout}${stderr}`;
}
