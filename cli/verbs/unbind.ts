/** `ipledger unbind`: ends bindings of released addresses whose containers ended without DEL. */
import { isIP } from 'node:net';
import type { Command } from 'commander';
import { type Binding, IpamService, type Position } from '../../proto/generated/ipledger.ts';
import { findSubnet, readAddressRecord } from '../clients/find-address.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { listBindings } from '../clients/list-allocations.ts';
import type { Answer } from '../output/answer.ts';
import { describeContainer } from '../output/format.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import { textColumns } from '../output/table.ts';
import { CliError } from '../cli-error.ts';
import { confirm, addDestructiveOptions, type DestructiveOptions } from '../program/operation-verb.ts';
import { runAndPrint } from '../program/verb.ts';

/** A container that holds released addresses. `pod` is '' if the ledger does not know it. */
interface HeldSandbox {
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly pod: string;
  readonly binding: Binding;
}

export function defineUnbind(verb: Command): void {
  addDestructiveOptions(verb)
    .addHelpText(
      'after',
      `
Ends only bindings of addresses that their Pods gave up; these can then be allocated again. First make sure that the containers
have ended: two Pods on one address break both. For a Node of Kubernetes that is powered off, delete the Node, or taint it with
node.kubernetes.io/out-of-service: the pod-watcher then also ends the bindings of the Pods that are deleted later.`,
    )
    .action((subject: string, { reason, yes, subnet, ...options }: DestructiveOptions) =>
      runAndPrint(options, async (allocator, signal) => {
        const held =
          isIP(subject) === 0 ? await findOnNode(allocator, subject, subnet) : await findOf(allocator, subject, subnet);
        await confirm({ lines: held.map(describe), question: 'Have these containers ended?', yes }, signal);
        return createAnswer(await unbindAll(allocator, held, reason));
      }),
    );
}

/** @throws CliError if no container of the node holds a released address. */
async function findOnNode(allocator: LedgerClient, node: string, subnet: string | undefined): Promise<HeldSandbox[]> {
  const held: HeldSandbox[] = [];
  for (const sandbox of await listBindings(allocator, node)) {
    const { addresses, attachment, binding } = sandbox;
    if (!binding || (subnet !== undefined && sandbox.subnet !== subnet)) continue;
    const { allocation } = await readAddressRecord(allocator, sandbox.subnet, addresses[0] ?? '');
    if (allocation?.seq === sandbox.allocationSeq) continue;
    held.push({ subnet: sandbox.subnet, addresses, pod: formatPodName(attachment), binding });
  }
  if (held.length > 0) return held;
  throw new CliError('refused', `no container on node ${node} holds a released address`);
}

/** @throws CliError for an address that is not held. */
async function findOf(allocator: LedgerClient, address: string, named: string | undefined): Promise<HeldSandbox[]> {
  const subnet = await findSubnet(allocator, [address], named);
  const { state, bindings } = await readAddressRecord(allocator, subnet, address);
  if (state === 'held') return bindings.map((binding) => ({ subnet, addresses: [address], pod: '', binding }));
  throw new CliError('refused', `${address} of subnet ${subnet} is not held by a container: it is ${state}`);
}

const describe = ({ subnet, addresses, pod, binding }: HeldSandbox): string =>
  `${addresses.join(',')} of subnet ${subnet} is held by ${describeContainer(binding)}${pod && `, of Pod ${pod}`}`;

interface UnbindResult {
  readonly position: Position | undefined;
  readonly unbound: readonly HeldSandbox[];
  /** Containers whose binding ended before, or whose address is fenced. */
  readonly unchanged: readonly HeldSandbox[];
}

async function unbindAll(
  allocator: LedgerClient,
  held: readonly HeldSandbox[],
  evidence: string,
): Promise<UnbindResult> {
  let position: Position | undefined;
  const [unbound, unchanged]: [HeldSandbox[], HeldSandbox[]] = [[], []];
  for (const each of held) {
    const { containerId, interface: name } = each.binding;
    const request = { containerId, interface: name, cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED', evidence } as const;
    const reply = await allocator.call(IpamService.unbind, request);
    ({ position } = reply);
    (reply.unbound > 0 ? unbound : unchanged).push(each);
  }
  return { position, unbound, unchanged };
}

const columns = textColumns('SUBNET', 'ADDRESS', 'POD', 'NODE', 'CONTAINER', 'UNBOUND');

function createAnswer(result: UnbindResult): Answer {
  const { unbound, unchanged } = result;
  const rowOf = ({ subnet, addresses, pod, binding }: HeldSandbox, isUnbound: boolean): string[] => {
    const { node, containerId } = binding;
    return [subnet, addresses.join(','), pod, node, containerId, isUnbound ? 'yes' : 'no'];
  };
  return {
    content: result,
    table: () =>
      unbound.map(({ subnet, addresses }) => `${addresses.join(',')} of subnet ${subnet} is no longer held\n`).join(''),
    listing: () => ({
      columns,
      rows: [...unbound.map((each) => rowOf(each, true)), ...unchanged.map((each) => rowOf(each, false))],
    }),
    note:
      unchanged.length > 0
        ? `fenced, or unbound before: ${unchanged.map(({ addresses }) => addresses.join(',')).join(', ')}`
        : undefined,
  };
}
