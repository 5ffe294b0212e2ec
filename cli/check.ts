/** `ipledger check`: do the ledger and the Kubernetes API say the same? */
import type { Command } from 'commander';
import { pause } from '../lib/deadline.ts';
import { IpledgerError } from '../lib/errors.ts';
import type { SandboxBinding } from '../proto/ipledger.ts';
import { readCluster } from './check/cluster.ts';
import { compare, lasting } from './check/compare.ts';
import { type Asked, readLedger } from './check/ledger.ts';
import { compareKeys } from './check/keys.ts';
import { heldBack } from './check/ledger-alone.ts';
import type { Disagreement, Picture } from './check/picture.ts';
import { podOf } from './check/say.ts';
import { exitStatus, Failure } from './failure.ts';
import { connectKubernetes, type Kubernetes } from './kubernetes.ts';
import { type Answer, counted } from './output.ts';
import { columnsOf, tableOf } from './table.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

/** The pod-watcher shows what happened within a second or two. */
const againAfterMs = 3_000;

const columns = columnsOf('DISAGREEMENT', 'WHERE', 'WHAT', 'WHAT TO DO');

export function addCheck(program: Command): void {
  addVerb(
    program,
    'check',
    'whether the ledger and the Kubernetes API say the same of all Pods, IP objects and Subnets',
  )
    .option('--claims', 'compare the claims and every other key in etcd with the log, too: reads all of it', false)
    .addHelpText(
      'after',
      `
Reads the cluster that KUBECONFIG names (it must be allowed to list Pods, Nodes, StatefulSets, NetworkAttachmentDefinitions, Subnets, IPPools,
Vips and IPs, and VirtualMachines where there is KubeVirt), and changes nothing. What differs is looked at again after
${againAfterMs / 1_000} s; only what still differs is told, so that nothing that is just happening counts.

Exit status:
  0  they agree
  ${exitStatus.disagreement}  they do not
  ${exitStatus.notCompared}  they could not be compared`,
    )
    .action(async ({ claims, ...options }: VerbOptions & { readonly claims: boolean }) => {
      try {
        const endpoints = options.allocator.split(',').flatMap((endpoint) => endpoint.trim() || []);
        await answer(options, async (allocator, signal) => {
          const asked = { allocator, endpoints, signal };
          const damaged = claims ? await compareKeys(asked) : [];
          const { disagreements, ...seen } = await look(asked);
          return told({ ...seen, disagreements: [...damaged, ...disagreements] });
        });
      } catch (error) {
        throw notCompared(error);
      }
    });
}

interface Look {
  readonly picture: Picture;
  readonly disagreements: readonly Disagreement[];
  /** How many differences one of two looks showed, and the other did not. */
  readonly moving: number;
}

/** Ledger and API cannot be read at one instant: what differs is looked at twice. */
async function look(asked: Asked): Promise<Look> {
  const kubernetes = await connectKubernetes(asked.signal);
  const before = await takePicture(asked, kubernetes);
  const first = compare(before);
  if (first.length === 0) return { picture: before, disagreements: first, moving: 0 };
  await pause(againAfterMs, asked.signal);
  const picture = await takePicture(asked, kubernetes);
  const second = compare(picture);
  const disagreements = lasting(second, first);
  return { picture, disagreements, moving: Math.max(first.length, second.length) - disagreements.length };
}

async function takePicture(asked: Asked, kubernetes: Kubernetes): Promise<Picture> {
  const [ledger, cluster] = await Promise.all([readLedger(asked), readCluster(kubernetes)]);
  return { ledger, cluster, at: Date.now() };
}

function told({ picture: { ledger, cluster }, disagreements, moving }: Look): Answer {
  if (disagreements.length > 0) process.exitCode = exitStatus.disagreement;
  const compared = { pods: cluster.pods.length, allocations: ledger.allocations.length, ipObjects: cluster.ips.length };
  const kept = heldBack(ledger);
  const rows = disagreements.map(({ kind, where, what, remedy }) => [kind, where, what, remedy]);
  const listing = { columns, rows };
  const result = disagreements.length === 0 ? 'no disagreement' : counted(disagreements.length, 'disagreement');
  const all = [
    counted(compared.pods, 'Pod'),
    counted(compared.allocations, 'allocation'),
    counted(compared.ipObjects, 'IP object'),
  ].join(', ');
  return {
    content: { position: ledger.position, compared, disagreements, heldBack: kept, moving },
    table: (zone) =>
      `${rows.length > 0 ? tableOf(listing, zone) : ''}${all} compared at seq ${ledger.position?.seq ?? 0}: ${result}\n`,
    listing: () => listing,
    note: [...kept.map(whyHeldBack), ...(moving > 0 ? [didNotLast(moving)] : [])].join('\n'),
  };
}

const didNotLast = (count: number): string =>
  `${counted(count, 'difference')} did not last and ${count > 1 ? 'are' : 'is'} not told`;

/** Nothing is wrong with that; who looks for a free address wants to know. */
const whyHeldBack = ({ attachment, subnet, addresses, binding }: SandboxBinding): string =>
  `${addresses.join(',')} of subnet ${subnet} is held back: container ${binding?.containerId} of Pod ${podOf(attachment)} on node ${binding?.node} may still answer on it`;

/** 1 says that something is wrong with the ledger or the cluster: nothing that went wrong here may look like that. */
function notCompared(thrown: unknown): unknown {
  const error = thrown instanceof Failure ? thrown : IpledgerError.from(thrown);
  if (error instanceof IpledgerError && error.code === 'CANCELLED') return error;
  return new Failure('notCompared', `could not compare: ${error.message}`, { cause: thrown });
}
