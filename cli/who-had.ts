/** `ipledger who-had ADDRESS --at TIME`: the question of 3 a.m. */
import { isIP, SocketAddress } from 'node:net';
import type { Command } from 'commander';
import { exitStatus, Failure } from './failure.ts';
import { lostAt, lostText as lostEventsText } from './lost.ts';
import type { Column } from './table.ts';
import { readTime, showTime, timeForms, type Zone } from './times.ts';
import { addVerb, answer, styleOf, type VerbOptions } from './verb.ts';
import { beginningAfter, type Found, lookUp, type Progress } from './who-had/look-up.ts';
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
  ${exitStatus.nothing}  nobody had it then: who did before and after is told`,
    )
    .action((address: string, { at: when, subnet, ...options }: WhoHadOptions) => {
      if (isIP(address) === 0) throw new Failure('usage', `${address} is no IP address`);
      const { zone } = styleOf(options);
      const instant = when === 'now' ? undefined : readTime(when, zone);
      if (instant !== undefined && Date.parse(instant) > Date.now())
        throw new Failure('usage', `--at ${when} is yet to come`);
      return answer(options, async (allocator) => {
        const question = { address: canonical(address), subnet, instant };
        const found = await lookUp(allocator, question, progress(zone));
        const isNobodys = found.subnets.every(({ holder }) => !holder);
        const began = isNobodys ? await beginningAfter(allocator, found.at) : undefined;
        if (began !== undefined)
          throw new Failure(
            'refused',
            `the ledger begins at ${showTime(began, zone)}, and does not know who had ${address} at ${showTime(found.at, zone)}`,
          );
        const lost = await lostAt(allocator, found.position, found.at);
        if (isNobodys) process.exitCode = exitStatus.nothing;
        return {
          content: { position: found.position, address: question.address, at: found.at, subnets: found.subnets, lost },
          table: (shownIn, width) =>
            found.subnets
              .map((each) =>
                tell({ ...question, instant: found.at }, each, { zone: shownIn, exactly: width === 'wide' }),
              )
              .join('\n'),
          listing: () => ({ columns, rows: found.subnets.map((each) => row(question.address, each)) }),
          note: lost && `${lostEventsText(lost, zone)}; others may have had it then`,
        };
      });
    });
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
