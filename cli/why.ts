/** `ipledger why NAMESPACE/POD`: the story of one Pod, and what it waits for now. */
import type { Command } from 'commander';
import { type Allocation, type Event, LedgerService, type Position } from '../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { eventColumns, eventRow } from './event.ts';
import { exitStatus, Failure } from './failure.ts';
import { connectKubernetes } from './kubernetes.ts';
import { print } from './output.ts';
import { addIndexed, type IndexedOptions, styleOf, withIndex } from './verb.ts';
import { type PodInCluster, podInCluster } from './why/cluster.ts';
import { livesOf } from './why/story.ts';
import { tell } from './why/tell.ts';
import { verdict } from './why/verdict.ts';

const eventsMost = 1_000;

export function addWhy(program: Command): void {
  addIndexed(
    program,
    'why <namespace/pod>',
    'the story of one Pod: what it was given, refused, uses, and waits for now',
  )
    .addHelpText(
      'after',
      `
For one that hangs in ContainerCreating, and for one that is long gone. Where KUBECONFIG is set it looks into the cluster, too.
It tells the last ${eventsMost} events of the name; \`ipledger history pod NAMESPACE/POD\` has them all.

Exit status:
  0  there is something to tell
  ${exitStatus.nothing}  neither the ledger nor the cluster knows a Pod of that name`,
    )
    .action((name: string, options: IndexedOptions) => {
      const [namespace, pod, ...rest] = name.split('/');
      if (!namespace || !pod || rest.length > 0)
        throw new Failure('usage', `${name} names no Pod: write NAMESPACE/NAME`);
      return withIndex(options, async (allocator, signal) => {
        const [known, found] = await Promise.all([read(allocator, namespace, pod), look(namespace, pod, signal)]);
        const lives = livesOf(known.events);
        if (lives.length === 0 && !found.pod) process.exitCode = exitStatus.nothing;
        print(styleOf(options), {
          content: { ...known, pod: found.pod, verdict: verdict({ life: lives[0], pod: found.pod }), lives },
          table: (zone) => tell({ name, lives, pod: found.pod }, zone),
          listing: () => ({ columns: eventColumns, rows: known.events.map(eventRow) }),
          note: found.note,
        });
      });
    });
}

interface InLedger {
  readonly position: Position | undefined;
  readonly allocations: readonly Allocation[];
  /** Newest first. */
  readonly events: readonly Event[];
}

async function read(allocator: Allocator, namespace: string, pod: string): Promise<InLedger> {
  const events: Event[] = [];
  let first: Pick<InLedger, 'position' | 'allocations'> | undefined;
  let pageToken = '';
  do {
    const pageSize = eventsMost - events.length;
    const reply = await allocator.ask(LedgerService.why, { namespace, pod, pageSize, pageToken });
    first ??= { position: reply.position, allocations: reply.allocations };
    events.push(...reply.events);
    pageToken = reply.nextPageToken;
  } while (pageToken !== '' && events.length < eventsMost);
  return { ...first, events };
}

/** What the cluster shows, where there is one to ask; one that does not answer is no reason to say nothing. */
async function look(
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly pod: PodInCluster | null | undefined; readonly note?: string }> {
  if (!process.env['KUBECONFIG']) return { pod: undefined, note: 'the cluster was not asked: KUBECONFIG is not set' };
  try {
    const kubernetes = await connectKubernetes(signal);
    return { pod: (await podInCluster(kubernetes, namespace, name)) ?? null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { pod: undefined, note: error.message };
  }
}
