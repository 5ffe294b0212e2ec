/** What has to be done inside a Pod's network namespace. All of it is here, through `nsenter`, with a deadline. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { within } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';

const deadlineMs = 4_000;

const run = promisify(execFile);

export interface Preparation {
  /** Path of the network namespace. */
  readonly netns: string;
  readonly interface: string;
  readonly cniType: string;
  /** The MAC that the link must have; '' to leave it as it is. */
  readonly mac: string;
  /** Families whose default routes give way to those of this interface. */
  readonly replacedDefaults: ReadonlySet<4 | 6>;
}

export interface Sandbox {
  /** @throws IpledgerError saying what could not be done */
  prepare(wanted: Preparation, signal: AbortSignal): Promise<void>;
}

/** The sandboxes of this node; needs root, nsenter and ip. */
export const sandboxOfNode: Sandbox = {
  async prepare(wanted, callerSignal) {
    if (wanted.mac === '' && wanted.replacedDefaults.size === 0) return;
    const signal = within(deadlineMs, callerSignal);
    await refuseOwn(wanted.netns);
    if (wanted.mac !== '') await setMac(wanted, signal);
    for (const family of wanted.replacedDefaults)
      await ip(wanted.netns, [`-${family}`, 'route', 'flush', 'exact', 'default'], signal);
  },
};

/** A runtime that names the node's own namespace must not cost the node its routes. */
async function refuseOwn(netns: string): Promise<void> {
  const named = await stat(netns).catch((error: unknown) => {
    throw new IpledgerError('SANDBOX_FAILED', `network namespace ${JSON.stringify(netns)}: ${String(error)}`);
  });
  const own = await stat('/proc/self/ns/net');
  if (named.dev === own.dev && named.ino === own.ino)
    throw new IpledgerError('SANDBOX_FAILED', `network namespace ${netns} is the node's own`);
}

/** The link is there before IPAM is asked, and comes up after. What was set is read back. */
async function setMac({ netns, interface: name, cniType, mac }: Preparation, signal: AbortSignal): Promise<void> {
  if (cniType === 'ipvlan')
    throw new IpledgerError(
      'SANDBOX_FAILED',
      `MAC ${mac} for ${name}: ipvlan links share their master's MAC; use macvlan`,
    );
  const links = await ip(netns, ['-json', 'link', 'show'], signal);
  const macOf = (listed: string) =>
    (JSON.parse(listed) as { ifname: string; address?: string }[]).find(({ ifname }) => ifname === name)?.address;
  const born = macOf(links);
  if (born === undefined)
    throw new IpledgerError(
      'SANDBOX_FAILED',
      `MAC ${mac} for ${name}: there is no such link in ${netns} yet; the plugin that makes it asks for its address first`,
    );
  if (same(born, mac)) return;
  await ip(netns, ['link', 'set', 'dev', name, 'address', mac], signal);
  const now = macOf(await ip(netns, ['-json', 'link', 'show'], signal));
  if (now === undefined || !same(now, mac))
    throw new IpledgerError('SANDBOX_FAILED', `MAC ${mac} for ${name} was set, but the link has ${now ?? 'gone'}`);
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

async function ip(netns: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  try {
    const { stdout } = await run('nsenter', [`--net=${netns}`, 'ip', ...args], {
      signal,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 20,
    });
    return stdout;
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr?.trim() || String(error);
    const said = signal.aborted ? `given up (the deadline is ${deadlineMs} ms)` : stderr;
    throw new IpledgerError('SANDBOX_FAILED', `in ${netns}: ip ${args.join(' ')}: ${said}`, { cause: error });
  }
}
