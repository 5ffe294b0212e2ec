/** Reads the links of the node with `ip -json address`. */
import { asRecords, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import { runCommand } from '../network-namespace.ts';

export interface NodeLink {
  readonly name: string;
  /** Addresses, without the link-local addresses that each active link has. */
  readonly addresses: readonly string[];
  /** The bond, bridge or datapath of which the link is a port; "" if it has none. */
  readonly master: string;
  /** The link below, for example of a VLAN interface; "" if there is none. */
  readonly parent: string;
  readonly isUp: boolean;
}

const timeoutMs = 5_000;

/** Reads all links of the network namespace in which the agent runs. @throws CommandError */
export async function readNodeLinks(signal: AbortSignal): Promise<NodeLink[]> {
  return parseNodeLinks(await runIp(['-json', 'address', 'show'], signal));
}

/** Sets a link up. @throws CommandError */
export async function setLinkUp(name: string, signal: AbortSignal): Promise<void> {
  await runIp(['link', 'set', 'dev', name, 'up'], signal);
}

const runIp = (args: readonly string[], signal: AbortSignal): Promise<string> =>
  runCommand('ip', args, { signal: timeoutSignal(timeoutMs, signal) });

/** Parses the output of `ip -json address show`. @throws Error if it is no JSON */
export function parseNodeLinks(output: string): NodeLink[] {
  const links: unknown = JSON.parse(output);
  return asRecords(links).map((link) => ({
    name: asText(link['ifname']),
    addresses: asRecords(link['addr_info'])
      .filter(({ scope }) => scope !== 'link')
      .map(({ local }) => asText(local)),
    master: asText(link['master']),
    parent: asText(link['link']),
    isUp: asTexts(link['flags']).includes('UP'),
  }));
}
