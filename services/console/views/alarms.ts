/** The present alarms, as the ledger sees them, each with the remedy of its runbook. */
import type { GetStatusReply, Subnet } from '../../../proto/generated/ipledger.ts';
import { describeFreeze } from '../../../lib/ledger-text/freeze-text.ts';
import { joinNonEmpty } from '../../../lib/ledger-text/texts.ts';
import type { Alarm, AlarmList } from '../api/alarm.ts';
import type { View } from '../http/routes.ts';
import { type DescribedQuarantine, type LedgerReads, positionOf } from '../ledger/ledger-reads.ts';
import { ipledger } from '../rows/command.ts';
import type { Runbooks } from './runbooks.ts';

type Finding = Omit<Alarm, 'remedy'>;

/** The threshold of the alert IpledgerSubnetNearlyFull. */
const nearlyFull = 0.9;
/** The threshold of the alert IpledgerEtcdFillsUp. */
const fewDays = 3;

export function listAlarms(reads: LedgerReads, runbooks: Runbooks): View {
  return async () => {
    const [status, { subnets }, fault, quarantined] = await Promise.all([
      reads.status(),
      reads.subnets(),
      reads.readModelFault(),
      reads.quarantines(),
    ]);
    const found = [
      ...ofLedger(status),
      ...ofReadModel(fault),
      ...subnets.flatMap((subnet) => [...ofSubnet(subnet)]),
      ...quarantined.map(ofQuarantine),
    ];
    const order = ['critical', 'warning', 'info'];
    const body: AlarmList = {
      position: positionOf(status),
      command: ipledger(['check']),
      items: found
        .toSorted((one, other) => order.indexOf(one.severity) - order.indexOf(other.severity))
        .map((finding) => ({ ...finding, remedy: ownRemedies[finding.name] ?? runbooks(finding.name) })),
    };
    return { body };
  };
}

/** The remedies of findings that are no alerts, so have no runbook. */
const ownRemedies: Readonly<Record<string, readonly string[]>> = {
  AddressQuarantined: [
    'No Pod gets the address until the quarantine ends.',
    '1. Open the page of the address: it names the reason, the MAC, and the node that saw the MAC.',
    '2. Find the host with that MAC, for example in the tables of the switches, and give it another address.',
    '3. End the quarantine on the page of the address, or by ipledger unquarantine.',
  ],
  ReadModelAway: ['1. Check that the read model runs and is ready.', '2. Read its log for the reason.'],
};

const ofAll = { about: '', subnet: '', address: '', since: '' };

function* ofLedger({ freeze, cannotWrite, storage }: GetStatusReply): Generator<Finding> {
  if (freeze && cannotWrite?.reason !== 'frozen') {
    const message = `the ledger is frozen, because etcd was restored from a backup: ${describeFreeze(freeze)}`;
    yield { ...ofAll, name: 'IpledgerNoWrites', severity: 'critical', since: freeze.reportedAt, message };
  }
  if (cannotWrite) {
    const name = cannotWrite.reason === 'no-writer' ? 'IpledgerNoWriter' : 'IpledgerNoWrites';
    yield { ...ofAll, name, severity: 'critical', since: cannotWrite.since, message: cannotWrite.message };
  }
  if (storage?.daysLeft !== undefined && storage.daysLeft <= fewDays) {
    const message = `the quota of etcd is in use in ${storage.daysLeft} days, at the growth of the last day`;
    yield { ...ofAll, name: 'IpledgerEtcdFillsUp', severity: 'warning', message };
  }
}

/** Reports a read model that does not answer: the console has no maps and no lists of events. */
function* ofReadModel(fault: string | undefined): Generator<Finding> {
  if (fault === undefined) return;
  const message = `the read model does not answer, so the console shows no maps and no lists of events. Check that it runs: ${fault}`;
  yield { ...ofAll, name: 'ReadModelAway', severity: 'warning', message };
}

function* ofSubnet({ name: subnet, usage, fenced }: Subnet): Generator<Finding> {
  const about = { ...ofAll, about: `Subnet ${subnet}`, subnet };
  for (const { family, total, inUse, free } of usage) {
    const [all, used] = [Number(total), Number(inUse)];
    if (all === 0) continue;
    if (free === '0' || used >= all)
      yield {
        ...about,
        name: 'IpledgerSubnetFull',
        severity: 'critical',
        message: `it has no free IPv${family} address`,
      };
    else if (used / all >= nearlyFull) {
      const message = `${inUse} of its ${total} IPv${family} addresses are in use`;
      yield { ...about, name: 'IpledgerSubnetNearlyFull', severity: 'warning', message };
    }
  }
  for (const address of fenced)
    yield {
      ...about,
      name: 'IpledgerFencedAddresses',
      severity: 'critical',
      address,
      message: `another program changed the key of ${address}: the allocator decides nothing about it`,
    };
}

function ofQuarantine({ subnet, address, quarantine }: DescribedQuarantine): Finding {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  const host = seenMac === '' ? '' : `${seenMac} answers on it${seenAt === '' ? '' : `, seen at ${seenAt}`}`;
  const why = joinNonEmpty('; ', host, reason) || 'another host answers on it, or an operator keeps it from Pods';
  const message = `${address} of subnet ${subnet} is quarantined: ${why}`;
  const about = `Subnet ${subnet}`;
  return { about, subnet, address, since: at, name: 'AddressQuarantined', severity: 'warning', message };
}
