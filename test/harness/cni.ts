/** CNI plugins, called as a container runtime calls them: environment, configuration on stdin, result on stdout. */
import { delimiter, join } from 'node:path';
import { type CommandResult, runCommand } from './command.ts';
import { childEnvironment } from './launch.ts';
import { inNamespace, type Namespace } from './network.ts';
import { distFolder } from './paths.ts';
import { findPlugins, findProgram } from './programs.ts';

/** Longer than a node agent waits for an address. */
const timeoutMs = 60_000;

export type CniCommand = 'ADD' | 'CHECK' | 'DEL' | 'GC' | 'STATUS' | 'VERSION';

export interface CniCall {
  readonly command: CniCommand;
  /** The plugin's file. */
  readonly plugin: string;
  /** Written to its stdin: an object as JSON, a text as it is. */
  readonly config: object | string;
  /** Where it runs; without one, in the machine's own network. */
  readonly node?: Namespace;
  readonly containerId?: string;
  /** The sandbox's path. */
  readonly netns?: string;
  readonly ifName?: string;
  /** CNI_ARGS. */
  readonly args?: Readonly<Record<string, string>>;
  /** Where the plugin leaves a DEL that finds no agent (default: /var/lib/cni/ipledger). */
  readonly journal?: string | undefined;
  /** Set on top, or with '' taken away: for calls that a runtime should not make. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface CniAnswer {
  readonly code: number;
  /** stdout as JSON (a result, or an error with code and msg); undefined when it is empty or none. */
  readonly result: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** The project's own plugin, as `make cni` builds it. */
export const kubeOvnPlugin = join(distFolder, 'kube-ovn');

/** CNI_PATH: the project's own plugin, then the reference plugins. */
export async function cniPath(): Promise<string> {
  return [distFolder, await findPlugins()].join(delimiter);
}

/** Runs a plugin; its exit status is part of the answer. */
export async function callPlugin(call: CniCall): Promise<CniAnswer> {
  const { command, plugin, config, node, containerId = '', netns = '', ifName = '', args = {}, journal = '' } = call;
  const variables = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerId,
    CNI_NETNS: netns,
    CNI_IFNAME: ifName,
    CNI_ARGS: cniArgs(args),
    CNI_PATH: await cniPath(),
    IPLEDGER_JOURNAL: journal,
    ...call.env,
  };
  const options = {
    env: childEnvironment(withoutEmpty(variables)),
    input: typeof config === 'string' ? config : JSON.stringify(config),
    timeoutMs,
  };
  return answerOf(node ? await inNamespace(node, [plugin], options) : await runCommand(plugin, [], options));
}

export interface CnitoolCall {
  readonly command: 'add' | 'check' | 'del' | 'gc' | 'status';
  /** The network's name, looked up in the configuration folder. */
  readonly network: string;
  /** NETCONFPATH. */
  readonly configFolder: string;
  readonly node?: Namespace;
  /** The sandbox's path. */
  readonly netns: string;
  readonly ifName: string;
  readonly args?: Readonly<Record<string, string>>;
  /** As in CniCall. */
  readonly journal?: string;
}

/** Runs cnitool: what libcni, and so every runtime, makes of a configuration. */
export async function callCnitool(call: CnitoolCall): Promise<CniAnswer> {
  const { command, network, configFolder, node, netns, ifName, args = {}, journal = '' } = call;
  const own = { NETCONFPATH: configFolder, CNI_ARGS: cniArgs(args), IPLEDGER_JOURNAL: journal };
  const variables = { ...own, CNI_PATH: await cniPath() };
  const options = { env: childEnvironment(withoutEmpty(variables)), timeoutMs };
  const cnitool = await findProgram('cnitool');
  const words = ['-i', ifName, command, network, netns];
  return answerOf(
    node ? await inNamespace(node, [cnitool, ...words], options) : await runCommand(cnitool, words, options),
  );
}

/** CNI_ARGS as kubelet and Multus give them for a Pod. */
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
