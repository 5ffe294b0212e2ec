/** The links of the node, by `ip -json address`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { asRecords, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';

export interface NodeLink {
  readonly name: string;
  /** Without link-local ones, which each link that is up has. */
  readonly addresses: readonly string[];
  /** The bond, bridge or datapath that the link is a port of; "" for none. */
  readonly master: string;
  /** The link below it, for example of a VLAN interface; "" for none. */
  readonly parent: string;
  readonly isUp: boolean;
}

const run = promisify(execFile);
const timeoutMs = 5_000;
const maxOutputBytes = 16 << 20;

/** Reads all links of the network namespace in which the agent runs. @throws Error of the program `ip` */
export async function readNodeLinks(signal: AbortSignal): Promise<NodeLink[]> {
  const options = { signal, timeout: timeoutMs, maxBuffer: maxOutputBytes };
  return parseNodeLinks((await run('ip', ['-json', 'address', 'show'], options)).stdout);
}

/** Sets a link up. @throws Error of the program `ip` */
export async function setLinkUp(name: string, signal: AbortSignal): Promise<void> {
  await run('ip', ['link', 'set', 'dev', name, 'up'], { signal, timeout: timeoutMs });
}

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
