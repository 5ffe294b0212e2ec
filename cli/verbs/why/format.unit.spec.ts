import { expect } from 'chai';
import type { Event } from '../../../proto/generated/ipledger.ts';
import { formatPodReport } from './format.ts';

const at = '2026-11-17T14:05:00.000Z';
const attachment = { namespace: 'default', pod: 'web-0', provider: 'lan.default', ordinal: 0 };

/** The report about a Pod whose request was refused, as the ledger and an Event have it. */
function reportOf(message: string, eventReason = 'AcquireAddressFailed'): string {
  const reason = 'ADDRESS_IN_USE';
  const allocationRefused = { attachment, uid: 'one', reason, message };
  const events = [{ seq: 3, at, before: [], allocationRefused }] as unknown as Event[];
  const refusals = [{ seq: 3, at, attachment, reason, message }];
  const text = `stage=acquireAddress provider=lan.default error=${message}; delete one`;
  const pod = {
    uid: 'one',
    node: 'node-1',
    phase: 'Pending',
    createdAt: at,
    deletedAt: '',
    networks: '',
    waiting: [],
    events: [{ at, from: 'ipledger-pod-watcher', reason: eventReason, message: text }],
  };
  const pods = [{ uid: 'one', owner: undefined, allocationPeriods: [], refusals, events }];
  const report = { name: 'default/web-0', pods, pod, allocations: [], logicalPorts: [] };
  return formatPodReport(report, () => 'TIME');
}

describe('The report about a Pod', () => {
  it('The report about a Pod has the whole text of a long refusal once: Events and the history have its start', () => {
    const message = `10.8.0.2 of subnet lan is in use by Pod default/${'first-'.repeat(40)}`;
    const start = `${message.slice(0, 60)}… (as above)`;
    const lines = reportOf(message).split('\n');
    expect(lines).to.include(`  it waits for an address of lan.default: ${message}; delete one`);
    expect(lines).to.include(
      `  TIME  Event AcquireAddressFailed: stage=acquireAddress provider=lan.default error=${start}`,
    );
    expect(lines).to.include(`  TIME  request for an address of lan.default rejected: ${start}  (event 3)`);
  });

  it('The report about a Pod quotes no control character of an Event, which a tenant can create', () => {
    expect(reportOf('Full', '\u001b]0;title\u0007')).to.match(/^ {2}TIME {2}Event \]0;title : stage=/m);
  });

  it('The report about a Pod repeats a short refusal as it is', () => {
    expect(reportOf('Full: 0 in use')).not.to.contain('(as above)');
  });
});
