/** What `recover` says: what differs, what is lost, and what nothing brings back. */
import type { GetStatusReply } from '../../proto/ipledger.ts';
import { podOf, said } from '../check/say.ts';
import type { Refused } from '../import/apply.ts';
import { type Answer, counted } from '../output.ts';
import type { Remembered } from '../record/remembered.ts';
import { columnsOf, tableOf } from '../table.ts';
import { showTime, type Zone } from '../times.ts';
import { lostStretchOf, stretchSentence } from './lost.ts';
import type { Recovery } from './plan.ts';

export interface Outcome {
  /** As it was found. */
  readonly status: GetStatusReply;
  readonly remembered: Remembered | undefined;
  readonly applied: boolean;
  readonly refused: readonly Refused[];
}

export function told(recovery: Recovery, { status, remembered, applied, refused }: Outcome): Answer {
  const { subnets, pools, releases, imports } = recovery;
  const listing =
    refused.length > 0
      ? { columns: refusedColumns, rows: refused.map(({ where, reason }) => [where, reason]) }
      : { columns, rows: rowsOf(recovery) };
  return {
    content: {
      position: status.position,
      freeze: status.freeze,
      lost: lostStretchOf(status),
      remembered,
      applied,
      refused,
      subnets: subnets.map(({ name }) => name),
      pools: pools.map(({ name }) => name),
      releases: releases.map(({ allocation, why }) => ({ ...allocation, why })),
      imports: imports.map(({ holder, ip: _, ...claim }) => ({ ...holder, ...claim })),
    },
    table: (zone) => {
      const list = listing.rows.length > 0 ? tableOf(listing, zone) : '';
      const end = applied && refused.length === 0 ? ': done' : '';
      const byHand = remembered ? lostByHand(remembered) : status.freeze ? notBroughtBack : '';
      return `${list}${standing(status, zone)}${summary(recovery)}${end}\n${byHand}`;
    },
    listing: () => listing,
    note: applied ? undefined : 'nothing was changed: --apply --reason … does it',
  };
}

const columns = columnsOf('WHAT', 'OF', 'HOW');
const refusedColumns = columnsOf('NOT TAKEN OVER', 'WHY');

function standing(status: GetStatusReply, zone: Zone): string {
  const { position, at, freeze } = status;
  const here = `the ledger is at epoch ${position?.epoch ?? 0}, event ${position?.seq ?? 0} of ${showTime(at, zone)}`;
  if (!freeze) return `${here}, and not frozen: nobody remembers more of it\n`;
  const { known, by } = freeze;
  const since = `frozen since ${showTime(freeze.at, zone)}`;
  const lost = lostStretchOf(status);
  return [
    `${here}, and ${since}: ${by} remembers event ${known?.seq ?? 0} of epoch ${known?.epoch ?? 0}\n`,
    ...(lost ? [`${stretchSentence(lost, zone)}\n`] : []),
  ].join('');
}

const bindingsLost =
  'Each node-agent binds again what its containers use, within half a minute: should a node be lost before, ipledger quarantine the addresses of its Pods\n';

/** What an operator has to think of: no object of Kubernetes shows it. */
const notBroughtBack = `
Nothing in the cluster shows these; those of the lost time have to be made again by hand:
  reservations  ipledger reserve ADDRESS --for WHOM --reason WHY    ended ones: ipledger unreserve
  quarantines   ipledger quarantine ADDRESS --reason WHY            ended ones: ipledger lift
An export made after the backup has them, as commands: ipledger recover --remembered FILE
${bindingsLost}`;

function lostByHand({ types, commands }: Remembered): string {
  const all = Object.entries(types).map(([type, count]) => `${count} ${type}`);
  if (all.length === 0) return '\nthe export has no event that the ledger lacks\n';
  const head = `\nthe export has events that the ledger lacks: ${all.join(', ')}\n`;
  const again = commands.map((each) => `  ${each}\n`).join('');
  if (again === '') return `${head}nothing of it was done by hand\n${bindingsLost}`;
  return `${head}what was done by hand, to be done again once the ledger goes on:\n${again}${bindingsLost}`;
}

const rowsOf = ({ subnets, pools, releases, imports }: Recovery): string[][] => [
  ...subnets.map(({ name, spec }) => ['Subnet is missing', name, `configure ${spec.cidrBlock}`]),
  ...pools.map(({ name, spec }) => ['IPPool is missing', name, `configure ${spec.ips.join()} of ${spec.subnet}`]),
  ...releases.map(({ allocation, why }) => [
    'holds what it should not',
    `Pod ${podOf(allocation.attachment)}`,
    `take back ${said(allocation)}: ${why}`,
  ]),
  ...imports.map(({ holder, addresses, subnet, provider }) => [
    'address is missing',
    `Pod ${holder.namespace}/${holder.name}`,
    `import ${addresses.join()} of subnet ${subnet} (${provider}, uid ${holder.uid})`,
  ]),
];

const summary = ({ subnets, pools, releases, imports }: Recovery): string =>
  [
    `${counted(subnets.length, 'Subnet')} and ${counted(pools.length, 'IPPool')} to configure`,
    `${counted(releases.length, 'allocation')} to take back`,
    `${counted(imports.length, 'attachment')} to import`,
  ].join(', ');
