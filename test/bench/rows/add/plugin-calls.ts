/**
 * ADDs of IPAM plugins, as a main plugin such as macvlan sends them: ours, and the reference
 * plugins `static` and `host-local`.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { pluginProcess, podArgs } from '../../../harness/cni.ts';
import { type TimedProcess, timeProcesses } from '../../time-processes.ts';
import { type AddEnvironment, namespace, provider } from './add-environment.ts';

/** An ADD that succeeded. */
export interface AcknowledgedAdd {
  readonly pod: string;
  readonly containerId: string;
  /** The address in the result, with the prefix length. */
  readonly address: string;
  /** The time from exec to the end of the process. */
  readonly ms: number;
}

export interface Adds {
  /** The time from the first exec to the last end. */
  readonly ms: number;
  readonly each: readonly AcknowledgedAdd[];
}

interface Plugin {
  readonly file: string;
  readonly ipam: Readonly<Record<string, unknown>> & { readonly type: string };
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs ADDs for Pods, one after the other or all at once.
 * @throws Error with the output of a plugin that fails
 */
export type AddPods = (pods: readonly string[], options?: { readonly atOnce?: boolean }) => Promise<Adds>;

/** ADDs of our plugin and agent, with the durable bind. */
export const addOurs = ({ plugin, socket }: Pick<AddEnvironment, 'plugin' | 'socket'>): AddPods =>
  addsOf(() => ({ file: plugin, ipam: { type: 'kube-ovn', server_socket: socket, provider } }));

/** ADDs of `static`, which only prints the address of its configuration. */
export const addStatic = ({ peers }: Pick<AddEnvironment, 'peers'>): AddPods =>
  addsOf(() => ({
    file: peers.static,
    ipam: { type: 'static', addresses: [{ address: '10.64.0.2/12', gateway: '10.64.0.1' }] },
  }));

/**
 * ADDs of `host-local`, which allocates in files of the node under one lock. Each burst has an
 * empty folder, because each ADD reads all files in it: with those of earlier rounds this floor
 * rises.
 */
export const addHostLocal = ({ run, peers }: Pick<AddEnvironment, 'run' | 'peers'>): AddPods =>
  addsOf(() => ({
    file: peers['host-local'],
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet: '10.64.0.0/12' }]],
      dataDir: mkdtempSync(join(run.folder, 'host-local-')),
    },
  }));

export function addsOf(find: () => Plugin | Promise<Plugin>): AddPods {
  return async (pods, options) => {
    const { file, ipam, env } = await find();
    const networkConfig = { cniVersion: '1.0.0', name: 'lan', type: 'macvlan', master: 'eth0', mode: 'bridge', ipam };
    const processes = pods.map(async (pod) => ({
      program: file,
      ...(await pluginProcess({
        command: 'ADD',
        plugin: file,
        config: networkConfig,
        containerId: containerOf(pod),
        netns: '/var/run/netns/nowhere',
        ifName: 'net1',
        args: podArgs(namespace, pod, pod),
        ...(env && { env }),
      })),
    }));
    const { ms, calls } = await timeProcesses(await Promise.all(processes), options);
    const each = calls.map((call, index) => {
      const pod = pods[index] ?? '';
      return { pod, containerId: containerOf(pod), address: addressIn(call.stdout), ms: call.ms };
    });
    return { ms, each };
  };
}

export const podNames = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Runs our plugin without its agent: it prints its versions. */
export async function callVersion(plugin: string, times: number): Promise<readonly TimedProcess[]> {
  const called = await pluginProcess({ command: 'VERSION', plugin, config: { cniVersion: '1.0.0' } });
  const process = { program: plugin, ...called };
  return (await timeProcesses(Array.from({ length: times }, () => process))).calls;
}

const containerOf = (pod: string): string => `container-of-${pod}`;

function addressIn(stdout: string): string {
  const { ips } = JSON.parse(stdout) as { ips?: readonly { readonly address: string }[] };
  if (!ips?.[0]) throw new Error(`the result of an ADD has no address: ${stdout}`);
  return ips[0].address;
}
