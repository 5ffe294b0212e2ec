/** `ipledger why NAMESPACE/POD`: the story of one Pod, and what it waits for now. */
import type { Command } from 'commander';
import { type Allocation, type Event, LedgerService, type Position, type WhyReply } from '../proto/ipledger.ts';
import { unlessGone } from '../lib/errors.ts';
import type { Allocator } from './allocator.ts';
import { eventColumns, eventRow } from './event.ts';
import { exitStatus, Failure } from './failure.ts';
import { connectKubernetes, isClusterNamed } from './kubernetes.ts';
import { longSearch } from './long-search.ts';
import { print } from './output.ts';
import { showTime } from './times.ts';
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
For one that hangs in ContainerCreating, and for one that is long gone. It looks into the cluster, too, where kubectl would: KUBECONFIG, else ~/.kube/config.
It tells the last ${eventsMost} events of the name, and says so where there are more; \`ipledger history pod NAMESPACE/POD\` has them all.

Exit status:
  0  there is something to tell
  ${exitStatus.nothing}  neither the ledger nor the cluster knows a Pod of that name`,
    )
    .action((name: string, options: IndexedOptions) => {
      const [namespace, pod, ...rest] = name.split('/');
      if (!namespace || !pod || rest.length > 0)
        throw new Failure('usage', `${name} names no Pod: write NAMESPACE/NAME`);
      return withIndex(options, async (allocator, signal) => {
        const [known, found] = await Promise.all([
          read(allocator, { namespace, pod }, longSearch(options)),
          look(namespace, pod, signal),
        ]);
        const lives = livesOf(known.events);
        const notes = [
          found.note,
          known.more ? `older events are left out: ipledger history pod ${name} has them` : '',
        ];
        if (lives.length === 0 && !found.pod) process.exitCode = exitStatus.nothing;
        print(styleOf(options), {
          content: { ...known, pod: found.pod, verdict: verdict({ life: lives[0], pod: found.pod }), lives },
          table: (zone, width) =>
            tell({ name, lives, pod: found.pod }, (instant) => showTime(instant, zone, width === 'wide')),
          listing: () => ({ columns: eventColumns, rows: known.events.map(eventRow) }),
          note: notes.filter(Boolean).join('\n'),
        });
      });
    });
}

interface InLedger {
  readonly position: Position | undefined;
  readonly allocations: readonly Allocation[];
  /** Newest first: the latest ones, and those that gave what the Pod holds, however old. */
  readonly events: readonly Event[];
  /** Whether older ones are left out. */
  readonly more: boolean;
}

interface Name {
  readonly namespace: string;
  readonly pod: string;
}

async function read(allocator: Allocator, name: Name, searched: ReturnType<typeof longSearch>): Promise<InLedger> {
  const events: Event[] = [];
  const ask = (pageToken: string): Promise<WhyReply> =>
    allocator.ask(LedgerService.why, { ...name, pageSize: eventsMost - events.length, pageToken });
  let reply: WhyReply | undefined = await ask('');
  const { position, allocations } = reply;
  let more = true;
  while (reply) {
    events.push(...reply.events);
    more = reply.nextPageToken !== '';
    if (!more || events.length >= eventsMost) break;
    searched(position, reply.searchedSeq);
    reply = await unlessGone(ask(reply.nextPageToken));
  }
  const oldest = events.at(-1)?.seq ?? 0;
  const leftOut = allocations.filter(({ seq }) => seq < oldest).toSorted((a, b) => b.seq - a.seq);
  for (const { seq } of leftOut) events.push(...(await grant(allocator, name, seq)));
  return { position, allocations, events, more };
}

/** The event of that number, which gave the Pod something. */
async function grant(allocator: Allocator, name: Name, seq: number): Promise<readonly Event[]> {
  const reply = await allocator.ask(LedgerService.history, { ...name, pageToken: String(seq), pageSize: 1 });
  return reply.events.filter((event) => event.seq === seq);
}

/** What the cluster shows, where there is one to ask; one that does not answer is no reason to say nothing. */
async function look(
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly pod: PodInCluster | null | undefined; readonly note?: string }> {
  if (!isClusterNamed(process.env))
    return { pod: undefined, note: 'the cluster was not asked: there is no kubeconfig' };
  try {
    const kubernetes = await connectKubernetes(signal);
    return { pod: (await podInCluster(kubernetes, namespace, name)) ?? null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { pod: undefined, note: error.message };
  }
}
