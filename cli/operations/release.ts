/** `ipledger release`: takes addresses back from whoever holds them. */
import type { Command } from 'commander';
import { type AddressRecord, type Allocation, IpamService, type Position } from '../../proto/ipledger.ts';
import { everyAllocation } from '../allocations.ts';
import type { Allocator } from '../allocator.ts';
import { addressesOf, podOf, said } from '../check/say.ts';
import { Failure } from '../failure.ts';
import type { Answer } from '../output.ts';
import { columnsOf } from '../table.ts';
import { answer } from '../verb.ts';
import { confirm } from './confirm.ts';
import { recordOf, subnetOf } from './subject.ts';
import { addDestructive, type DestructiveOptions } from './verb.ts';

export function addRelease(program: Command): void {
  addDestructive(program, 'release <address|namespace/pod>', 'take an address back, or all that a Pod holds')
    .addHelpText(
      'after',
      `
What is released is just what was shown: an address that another Pod holds by now is left alone. Where a container may still
answer on it, the address is kept back until that is over. A Pod that lives asks again, and may well be given the same.`,
    )
    .action((what: string, { reason, yes, subnet, ...options }: DestructiveOptions) =>
      answer(options, async (allocator, signal) => {
        const held = await holdings(allocator, what, subnet);
        await confirm({ lines: held.map(sentence), question: 'Take this away?', yes }, signal);
        return released(await end(allocator, held, reason));
      }),
    );
}

/** @throws Failure when nothing is held. */
async function holdings(allocator: Allocator, what: string, subnet: string | undefined): Promise<Allocation[]> {
  const [namespace, pod, ...rest] = what.split('/');
  if (pod !== undefined && rest.length === 0) {
    const { allocations } = await everyAllocation(allocator, { namespace, pod, subnet });
    if (allocations.length > 0) return allocations;
    throw new Failure('refused', `Pod ${what} holds no address${subnet === undefined ? '' : ` of subnet ${subnet}`}`);
  }
  const found = await subnetOf(allocator, [what], subnet);
  const record = await recordOf(allocator, found, what);
  if (record.allocation) return [record.allocation];
  throw new Failure('refused', `${what} of subnet ${found} is held by nobody: it is ${insteadOf(record)}`);
}

/** What it is, and what frees it, where nobody holds it. */
function insteadOf({ state, bindings: [binding], availableAt }: AddressRecord): string {
  if (state !== 'held' || !binding) return state;
  const { containerId, node } = binding;
  return `kept back until ${availableAt}, since container ${containerId} on node ${node} may still answer on it; if that node is gone for good, kubectl delete node ${node} frees it now`;
}

function sentence(allocation: Allocation): string {
  const [binding] = allocation.bindings;
  const bound = binding ? `, and container ${binding.containerId} on node ${binding.node} uses it` : '';
  return `Pod ${podOf(allocation.attachment)} holds ${said(allocation)}${bound}`;
}

interface Ended {
  readonly position: Position | undefined;
  readonly released: readonly Allocation[];
  /** Those that ended by themselves, or were passed on, since they were shown. */
  readonly gone: readonly Allocation[];
}

/** Each by its event: whoever holds the address by then is another matter. */
async function end(allocator: Allocator, held: readonly Allocation[], evidence: string): Promise<Ended> {
  const ended: { position: Position | undefined; released: Allocation[]; gone: Allocation[] } = {
    position: undefined,
    released: [],
    gone: [],
  };
  for (const allocation of held) {
    const { attachment, podUid, seq: allocationSeq } = allocation;
    const { namespace, pod } = attachment ?? {};
    const cause = 'RELEASE_CAUSE_OPERATOR';
    const reply = await allocator.ask(IpamService.release, { namespace, pod, podUid, cause, evidence, allocationSeq });
    ended.position = reply.position;
    ended[reply.released > 0 ? 'released' : 'gone'].push(allocation);
  }
  return ended;
}

const columns = columnsOf('SUBNET', 'ADDRESS', 'POD', 'UID', 'PROVIDER', 'RELEASED');

const row = (allocation: Allocation, isReleased: boolean): string[] => [
  allocation.subnet,
  addressesOf(allocation),
  podOf(allocation.attachment),
  allocation.podUid,
  allocation.attachment?.provider ?? '',
  isReleased ? 'yes' : 'no',
];

const released = ({ position, released: taken, gone }: Ended): Answer => ({
  content: { position, released: taken, gone },
  table: () =>
    taken
      .map((each) => `${addressesOf(each)} of subnet ${each.subnet} taken back from Pod ${podOf(each.attachment)}\n`)
      .join(''),
  listing: () => ({
    columns,
    rows: [...taken.map((each) => row(each, true)), ...gone.map((each) => row(each, false))],
  }),
  note: gone.length > 0 ? `given back or passed on meanwhile: ${gone.map(addressesOf).join(', ')}` : undefined,
});
