/**
 * Is all as it must be? Three views that share no code: expectAgreement reads etcd, the ledger and the Kubernetes API as they
 * are now; `ipledger check` is what an operator would run; the story is the whole log from its first event.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectAgreement } from '../e2e/agreement.ts';
import { eventually } from '../e2e/eventually.ts';
import { runCommand } from '../harness/command.ts';
import { childEnvironment } from '../harness/launch.ts';
import { root } from '../harness/paths.ts';
import type { Life } from './crowd.ts';
import { scale } from './scale.ts';
import type { Stage } from './stage.ts';
import { readStory, type Story, type Tenure } from './story.ts';

/** A log may be long. */
const lookAgainMs = 500;

/** What `ipledger check` says, and its exit status. */
export function check({ stack, run }: Stage, ...args: string[]) {
  const { allocator, cluster } = stack;
  const env = childEnvironment({ IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: cluster.kubeconfig });
  return runCommand(join(root, 'cli', 'ipledger'), ['check', ...args], { env, signal: run.signal });
}

/**
 * Waits until all agree, as all three see it.
 * @param lives every Pod that there ever was
 * @returns the story
 * @throws Error that says what is wrong
 */
export async function expectAllRight(stage: Stage, lives: readonly Life[]): Promise<Story> {
  const story = await eventually(async () => {
    const told = await readStory(stage.stack.etcd);
    const found = [...told.wrongs, ...unfinished(told, lives)];
    if (found.length === 0) return told;
    await sleep(lookAgainMs);
    throw new Error(`the log does not tell what happened:\n  - ${found.join('\n  - ')}`);
  }, scale.patienceMs);
  await expectAgreement(stage.stack, scale.patienceMs);
  await eventually(async () => {
    const { code, stdout, stderr } = await check(stage);
    if (code !== 0) throw new Error(`ipledger check exits with ${code}:\n${stdout}${stderr}`);
  }, scale.patienceMs);
  const broken = lives.flatMap((life) => brokenPromises(life, story));
  if (broken.length > 0) throw new Error(`Pods were told something else:\n  - ${broken.join('\n  - ')}`);
  return story;
}

/** What the log has yet to tell: of who lives what it was given, of who does not that it gave that back. */
function unfinished({ tenures, bound }: Story, lives: readonly Life[]): string[] {
  const byUid = Map.groupBy(tenures, ({ uid }) => uid);
  const sandboxes = lives.flatMap((life) => life.sandboxes).map(({ containerId }) => `${containerId}/net1`);
  const found = lives.flatMap(({ name, uid, networks, fate }) => {
    const held = (byUid.get(uid) ?? []).filter(({ end }) => end === undefined);
    const wanted = fate === 'lives' ? networks.length : 0;
    return held.length === wanted
      ? []
      : [`Pod ${name} (uid ${uid}, ${fate}) holds ${said(held)}, of ${wanted} networks`];
  });
  for (const container of bound)
    if (!sandboxes.includes(container)) found.push(`${container} is gone, and bound still`);
  for (const container of sandboxes) if (!bound.includes(container)) found.push(`${container} runs, and is not bound`);
  return found;
}

/** Whoever was told an address had that one and no other, as long as it lived; and nobody was given anything twice. */
function brokenPromises({ name, uid, networks, told }: Life, { tenures }: Story): string[] {
  const own = tenures.filter((tenure) => tenure.uid === uid);
  const found = own.length > networks.length ? [`Pod ${name} (uid ${uid}) was given ${said(own)}`] : [];
  for (const [network, addresses] of told) {
    const given = own.filter(({ subnet }) => subnet === network).map((tenure) => tenure.addresses.join(','));
    if ([...addresses].join(' then ') !== given.join(' then '))
      found.push(
        `Pod ${name} (uid ${uid}) was told ${[...addresses].join(' then ')} of ${network}, and given ${given.join(' then ')}`,
      );
  }
  return found;
}

const said = (tenures: readonly Tenure[]): string =>
  tenures.map(({ seq, addresses }) => `${addresses.join(',')} (event ${seq})`).join(' and ') || 'nothing';
