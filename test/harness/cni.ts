/**
 * Calls CNI plugins as a container runtime does: environment, configuration on stdin, result on
 * stdout.
 */
import { delimiter, join } from 'node:path';
import { type CommandResult, runCommand } from './processes/command.ts';
import { childEnvironment } from './processes/launch.ts';
import { inNamespace, type Namespace } from './network/network-namespaces.ts';
import { distFolder } from './paths.ts';
import { findPlugins, findProgram } from './programs/find-program.ts';

/** The timeout of a plugin: longer than the node agent waits for an address. */
const timeoutMs = 60_000;

export type CniCommand = 'ADD' | 'CHECK' | 'DEL' | 'GC' | 'STATUS' | 'VERSION';

export interface CniCall {
  readonly command: CniCommand;
  /** File of the plugin. */
  readonly plugin: string;
  /** The text for its stdin: an object as JSON, a text unchanged. */
  readonly config: object | string;
  /** Network namespace of the plugin (default: the machine's). */
  readonly node?: Namespace;
  readonly containerId?: string;
  /** Path of the sandbox's network namespace. */
  readonly netns?: string;
  readonly ifName?: string;
  /** CNI_ARGS. */
  readonly args?: Readonly<Record<string, string>>;
  /** Folder for pending DELs (default: /var/lib/cni/ipledger). */
  readonly pendingDels?: string | undefined;
  /** Variables to set, or to remove with '', for invalid calls. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface CniAnswer {
  readonly code: number;
  /** The stdout as JSON: a result, or an error with code and msg; undefined for other text. */
  readonly result: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** The plugin of this project, as `make cni` builds it. */
export const kubeOvnPlugin = join(distFolder, 'kube-ovn');

/** Returns CNI_PATH: the plugin of this project, then the reference plugins. */
export async function cniPath(): Promise<string> {
  return [distFolder, await findPlugins()].join(delimiter);
}

/** Runs a plugin. The answer contains its exit status. */
export async function callPlugin(call: CniCall): Promise<CniAnswer> {
  const { plugin, node } = call;
  const options = { ...(await pluginProcess(call)), timeoutMs };
  return answerOf(node ? await inNamespace(node, [plugin], options) : await runCommand(plugin, [], options));
}

/** The environment and the input of a plugin's process. */
export async function pluginProcess(call: CniCall): Promise<{ env: NodeJS.ProcessEnv; input: string }> {
  const { command, config, containerId = '', netns = '', ifName = '', args = {}, pendingDels = '' } = call;
  const variables = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerId,
    CNI_NETNS: netns,
    CNI_IFNAME: ifName,
    CNI_ARGS: cniArgs(args),
    CNI_PATH: await cniPath(),
    IPLEDGER_PENDING_DELS: pendingDels,
    ...call.env,
  };
  return {
    env: childEnvironment(withoutEmpty(variables)),
    input: typeof config === 'string' ? config : JSON.stringify(config),
  };
}

export interface CnitoolCall {
  readonly command: 'add' | 'check' | 'del' | 'gc' | 'status';
  /** Name of a network in the configuration folder. */
  readonly network: string;
  /** NETCONFPATH. */
  readonly configFolder: string;
  readonly node?: Namespace;
  /** Path of the sandbox's network namespace. */
  readonly netns: string;
  readonly ifName: string;
  readonly args?: Readonly<Record<string, string>>;
  /** The folder of pending DELs, as in CniCall. */
  readonly pendingDels?: string;
}

/** Runs cnitool, which uses libcni as every runtime does. */
export async function callCnitool(call: CnitoolCall): Promise<CniAnswer> {
  const { command, network, configFolder, node, netns, ifName, args = {}, pendingDels = '' } = call;
  const own = { NETCONFPATH: configFolder, CNI_ARGS: cniArgs(args), IPLEDGER_PENDING_DELS: pendingDels };
  const variables = { ...own, CNI_PATH: await cniPath() };
  const options = { env: childEnvironment(withoutEmpty(variables)), timeoutMs };
  const cnitool = await findProgram('cnitool');
  const words = ['-i', ifName, command, network, netns];
  return answerOf(
    node ? await inNamespace(node, [cnitool, ...words], options) : await runCommand(cnitool, words, options),
  );
}

/** Returns the CNI_ARGS of a Pod, as from kubelet and Multus. */
export function podArgs(namespace: string, name: string, uid?: string): Record<string, string> {
  return {
    IgnoreUnknown: '1',
    K8S_POD_NAMESPACE: namespace,
    K8S_POD_NAME: name,
    ...(uid === undefined ? {} : { K8S_POD_UID: uid }),
  };
}

function cniArgs(args: Readonly<Record<string, string>>): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}=${value}`)
    .join(';');
}

function withoutEmpty(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}

function answerOf({ code, stdout, stderr }: CommandResult): CniAnswer {
  let result: unknown;
  try {
    result = JSON.parse(stdout) as unknown;
  } catch {
    result = undefined;
  }
  return { code, result, stdout, stderr };
}
