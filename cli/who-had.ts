/** `ipledger who-had ADDRESS --at TIME`: the question of 3 a.m. */
import { isIP } from 'node:net';
import type { Command } from 'commander';
import type { Event, Position } from '../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { exitStatus, Failure } from './failure.ts';
import { historyOf } from './history.ts';
import type { Column } from './table.ts';
import { at, type Tenures, tenuresOf, type Then } from './tenure.ts';
import { readTime, timeForms } from './times.ts';
import { addVerb, answer, styleOf, type VerbOptions } from './verb.ts';
import { givenText, lostText, ownerText, podText, tell } from './who-had/tell.ts';

const eventsMost = 1_000_000;
/** An address with a longer history than this is only looked at as far as who had it needs. */
const eventsUsual = 5_000;

interface WhoHadOptions extends VerbOptions {
  readonly at: string;
  readonly subnet?: string;
}

export function addWhoHad(program: Command): void {
  addVerb(program, 'who-had <address>', 'who had an address at a time, why it was given, and why it was lost')
    .option('--at <time>', 'when', 'now')
    .option('--subnet <name>', 'only in this subnet; else in all that know the address')
    .addHelpText(
      'after',
      `
A time is ${timeForms}.

Exit status:
  0  somebody had it
  ${exitStatus.nothing}  nobody had it then: who did before and after is told`,
    )
    .action((address: string, { at: when, subnet, ...options }: WhoHadOptions) => {
      if (isIP(address) === 0) throw new Failure('usage', `${address} is no IP address`);
      const { zone } = styleOf(options);
      const instant = readTime(when, zone);
      if (Date.parse(instant) > Date.now()) throw new Failure('usage', `--at ${when} is yet to come`);
      return answer(options, async (allocator) => {
        const { position, found } = await lookUp(allocator, { address, subnet, instant });
        if (!found.some(({ holder }) => holder)) process.exitCode = exitStatus.nothing;
        return {
          content: { position, address, at: instant, subnets: found },
          table: (shownIn) => found.map((each) => tell({ address, instant }, each, shownIn)).join('\n'),
          listing: () => ({ columns, rows: found.map((each) => row(address, each)) }),
        };
      });
    });
}

const names = ['SUBNET', 'ADDRESS', 'POD', 'UID', 'OWNER', 'NODE', 'CONTAINERS', 'FROM', 'UNTIL', 'GIVEN', 'LOST'];
const columns: readonly Column[] = names.map((name) => ({ name }));

/** Empty from the Pod on where nobody had it. */
function row(address: string, { subnet, holder }: Found): string[] {
  if (!holder) return [subnet, address, ...columns.slice(2).map(() => '')];
  return [
    subnet,
    address,
    podText(holder),
    holder.podUid,
    ownerText(holder),
    holder.node,
    holder.uses.map(({ containerId }) => containerId).join(' '),
    holder.from,
    holder.until,
    givenText(holder),
    lostText(holder),
  ];
}

interface Question {
  readonly address: string;
  readonly subnet: string | undefined;
  readonly instant: string;
}

/** What a subnet's address was then. */
interface Found extends Then {
  readonly subnet: string;
}

/** Back through the address's history to who had it then; in each subnet that knows it. */
export async function lookUp(allocator: Allocator, { address, subnet, instant }: Question) {
  const found: Found[] = [];
  let position: Position | undefined;
  const subnets = subnet === undefined ? await subnetsOf(allocator, address) : [subnet];
  for (const name of subnets) {
    const events: Event[] = [];
    for await (const page of historyOf(allocator, { address, subnet: name }, eventsMost)) {
      position ??= page.position;
      events.push(...page.events);
      if (events.length >= eventsUsual && isEnough(tenuresOf(events), instant)) break;
    }
    found.push({ subnet: name, ...at(instant, tenuresOf(events)) });
  }
  return { position, found };
}

async function subnetsOf(allocator: Allocator, address: string): Promise<readonly string[]> {
  for await (const { subnets } of historyOf(allocator, { address }, 1)) return subnets;
  return [];
}

/**
 * Once it is known how that tenure began which was the last to begin by then. What is older could only say that the address has been
 * reserved or quarantined ever since.
 */
const isEnough = ({ tenures }: Tenures, instant: string): boolean =>
  tenures.some(({ from, given }) => from <= instant && given.fromUid === '');
