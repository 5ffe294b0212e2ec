import { expect } from 'chai';
import type { Event } from '../../domain/events/event.ts';
import { subnetConfigured } from '../../domain/testing/event-fixtures.ts';
import { chainEvent, emptyHead } from '../chain/chain.ts';
import { logKey } from '../store/keys.ts';
import type { EventReader, StoredLine } from '../store/ledger.ts';
import { failureOf, never } from '../testing/running-writer.ts';
import { DropChain } from './drop-chain.ts';

const subnet = 'lan';
const dropped = (addresses: readonly string[], previous: readonly number[], of = subnet): Event => ({
  type: 'ClaimsDropped',
  subnet: of,
  data: { addresses, previous },
});

/** Returns the chain of an address in a log of these events, and the events that it has read. */
function chainOf(events: readonly Event[], address: string, last: readonly number[], signal = never) {
  let head = emptyHead;
  const lines = events.map((event, index): StoredLine => {
    const wrapping = {
      id: 'id',
      command: 'command',
      part: [1, 1],
      actor: 'spec',
      before: {},
      at: 1,
      clock: 1,
    } as const;
    const next = chainEvent(head, event, wrapping);
    head = next.head;
    return { key: logKey(index + 1), text: next.stored.text, revision: 1n };
  });
  const reads: number[][] = [];
  const reader = {
    readEach: (seqs: readonly number[], { aborted }: AbortSignal) => {
      if (aborted) throw new Error('the caller has left');
      reads.push([...seqs]);
      if (reads.length > events.length + 1) throw new Error('the chain does not end');
      return Promise.resolve(seqs.map((seq) => lines[seq - 1]));
    },
  } as EventReader;
  return { reads, chain: new DropChain(reader, { subnet, address }, last, signal) };
}

describe('DropChain', () => {
  const log = [
    dropped(['10.0.0.1'], []),
    dropped(['10.0.0.2'], [1]),
    dropped(['10.0.0.1', '10.0.0.2'], [2, 1]),
    dropped(['10.0.0.3'], [3, 2]),
    dropped(['10.0.0.1'], [4, 3]),
  ];

  it('DropChain finds each event that dropped the claim of an address, and no other', async () => {
    const { chain } = chainOf(log, '10.0.0.1', [5, 4]);
    expect(await chain.lastBefore(9)).to.equal(5);
    expect(await chain.lastBefore(5)).to.equal(3);
    expect(await chain.lastBefore(3)).to.equal(1);
    expect(await chain.lastBefore(1)).to.equal(0);
  });

  it('DropChain reads only as much of the chain as is needed, and each event once', async () => {
    const { chain, reads } = chainOf(log, '10.0.0.1', [5, 4]);
    expect(reads).to.deep.equal([]);
    await chain.lastBefore(9);
    expect(reads).to.deep.equal([[5, 4]]);
    await chain.lastBefore(5);
    await chain.lastBefore(9);
    expect(reads).to.deep.equal([
      [5, 4],
      [3, 2],
    ]);
  });

  it('DropChain ends at an event that names itself or a later event as the previous one', async () => {
    const { chain } = chainOf([dropped(['10.0.0.2'], [2, 1])], '10.0.0.1', [1]);
    expect(await chain.lastBefore(9)).to.equal(0);
    const events = [dropped(['10.0.0.2'], [1]), dropped(['10.0.0.2'], [])];
    const { chain: second, reads } = chainOf(events, '10.0.0.1', [2, 1]);
    expect(await second.lastBefore(9)).to.equal(0);
    expect(reads).to.deep.equal([[2, 1]]);
  });

  for (const [what, event] of [
    ['of another type', subnetConfigured()],
    ['of another Subnet', dropped(['10.0.0.1'], [], 'wan')],
  ] as const)
    it(`DropChain refuses a chain with an event ${what}`, async () => {
      const { chain } = chainOf([event], '10.0.0.1', [1]);
      const { code, message } = await failureOf(chain.lastBefore(9));
      expect(code).to.equal('LEDGER_DAMAGED');
      expect(message).to.contain('event 1 is listed as one that dropped claims of Subnet lan');
    });

  it('DropChain ends when its caller has left', async () => {
    const { chain } = chainOf(log, '10.0.0.1', [5, 4], AbortSignal.abort());
    expect(await failureOf(chain.lastBefore(9))).to.have.property('message', 'the caller has left');
  });

  it('DropChain refuses a chain with an event that the log lacks', async () => {
    const { chain } = chainOf([], '10.0.0.1', [1]);
    expect((await failureOf(chain.lastBefore(9))).code).to.equal('LEDGER_DAMAGED');
  });
});
