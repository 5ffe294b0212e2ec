/** `ipledger who-had ADDRESS --at TIME`: the question of 3 a.m. */
import { isIP, SocketAddress } from 'node:net';
import type { Command } from 'commander';
import type { Allocator } from './allocator.ts';
import { exitStatus, Failure } from './failure.ts';
import { neverUsed } from './history.ts';
import { lostAt, lostTimeText } from './lost.ts';
import type { Answer } from './output.ts';
import { columnsOf } from './table.ts';
import { readTime, showTime, timeForms, type Zone } from './times.ts';
import { addVerb, answer, styleOf, type VerbOptions } from './verb.ts';
import { beginningAfter, type Found, lookUp, type Progress, type Question } from './who-had/look-up.ts';
import { givenText, lostText, ownerText, podText, tell } from './who-had/tell.ts';

/** A person who waits for a history that is longer than this is told how far it is read. */
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
  ${exitStatus.nothing}  nobody had it then: who did before and after is told, or that it was never used`,
    )
    .action((address: string, { at: when, subnet, ...options }: WhoHadOptions) => {
      if (isIP(address) === 0) throw new Failure('usage', `${address} is no IP address`);
      const { zone } = styleOf(options);
      const instant = when === 'now' ? undefined : readTime(when, zone);
      if (instant !== undefined && Date.parse(instant) > Date.now())
        throw new Failure('usage', `--at ${when} is yet to come`);
      const question = { address: canonical(address), subnet, instant };
      return answer(options, (allocator) => whoHad(allocator, question, zone));
    });
}

/** @throws Failure for a time before there was a ledger, of which it knows nothing; as `lookUp`. */
async function whoHad(allocator: Allocator, question: Question, zone: Zone): Promise<Answer> {
  const { position, at, subnets } = await lookUp(allocator, question, progress(zone));
  const { address } = question;
  const isNobodys = subnets.every(({ holder }) => !holder);
  const began = isNobodys ? await beginningAfter(allocator, at) : undefined;
  if (began !== undefined) {
    const [since, then] = [showTime(began, zone), showTime(at, zone)];
    throw new Failure('refused', `the ledger begins at ${since}, and does not know who had ${address} at ${then}`);
  }
  const lost = await lostAt(allocator, position, at);
  if (isNobodys) process.exitCode = exitStatus.nothing;
  return {
    content: { position, address, at, subnets, lost },
    table: (shownIn, width) => {
      const style = { zone: shownIn, exactly: width === 'wide' };
      if (subnets.length === 0)
        return `${address} at ${showTime(at, shownIn, style.exactly)}: nobody had it\n  it ${neverUsed(question.subnet)}\n`;
      return subnets.map((each) => tell({ address, instant: at }, each, style)).join('\n');
    },
    listing: () => ({ columns, rows: subnets.map((each) => row(address, each)) }),
    note: lost && `${lostTimeText(lost, zone)}; others may have had it then`,
  };
}

/** As the ledger writes it. */
const canonical = (address: string): string =>
  new SocketAddress({ address, family: isIP(address) === 6 ? 'ipv6' : 'ipv4' }).address;

function progress(zone: Zone): Progress {
  let told = 0;
  return (events, at) => {
    if (events < told + eventsUsual) return;
    told = events;
    process.stderr.write(`${events} events of it read, back to ${showTime(at, zone)}\n`);
  };
}

const columns = columnsOf(
  'SUBNET',
  'ADDRESS',
  'POD',
  'UID',
  'OWNER',
  'NODE',
  'CONTAINERS',
  'FROM',
  'UNTIL',
  'GIVEN',
  'LOST',
);

/** From POD on its cells are empty where nobody had the address. */
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
