import { expect } from 'chai';
import { parseCheckpoint, signCheckpoint } from '../checkpoint/checkpoint.ts';
import { generateKey, parseSignerKey, type SignerKey } from '../checkpoint/key.ts';
import { rotate } from '../checkpoint/rotation.ts';
import { chain, emptyHead, type Head, type StoredEvent } from '../ledger/chain.ts';
import { logKey } from '../ledger/keys.ts';
import type { Event } from '../domain/event.ts';
import { Attested } from './attested.ts';

const newSigner = (name = 'example'): SignerKey => parseSignerKey(generateKey(name).signer);
const ledger = '01KG9AG8M00000000000000001';
const signer = newSigner();

interface Place {
  readonly stored: StoredEvent;
  readonly head: Head;
}

/** These events, chained. */
function chained(...events: readonly Event[]): Place[] {
  const places: Place[] = [];
  for (const event of [{ type: 'LedgerCreated', subnet: '', data: { ledger } } as const, ...events]) {
    const head = places.at(-1)?.head ?? emptyHead;
    const wrapping = { part: [1, 1], at: 1_000, clock: 1_000, actor: 'spec', before: {} } as const;
    places.push(chain(head, event, { id: `event-${places.length}`, command: `command-${places.length}`, ...wrapping }));
  }
  return places;
}

const retired = (subnet: string): Event => ({ type: 'SubnetRetired', subnet, data: {} });
const headOf = (places: readonly Place[], seq: number): Head => places[seq - 1]?.head ?? emptyHead;

/** What is found when a log is held to checkpoints of these heads. */
function held(
  log: readonly Place[],
  attestations: readonly (readonly [Head, SignerKey])[],
  trusted: readonly SignerKey[] = [signer],
): string[] {
  const checkpoints = attestations.map(([head, by]) => parseCheckpoint(signCheckpoint(head, by)));
  const attested = new Attested(
    checkpoints,
    trusted.map(({ verifier }) => verifier),
  );
  for (const { head, stored } of log) attested.look(head, stored);
  attested.end(log.at(-1)?.head ?? emptyHead);
  expect(attested.compared).to.equal(attestations.length);
  return attested.findings.map(({ key, what }) => `${key}: ${what}`);
}

describe('A ledger held to checkpoints', () => {
  const log = chained(retired('a'), retired('b'), retired('c'));

  it('that it leads to is not accused, in whatever order they come, and though one is there twice', () => {
    const seqs = [3, 1, 4, 3];
    expect(
      held(
        log,
        seqs.map((seq) => [headOf(log, seq), signer] as const),
      ),
    ).to.deep.equal([]);
  });

  it('that was made anew shows where it can first have begun', () => {
    const anew = chained(retired('a'), retired('x'), retired('c'));
    const findings = held(
      anew,
      [1, 2, 4].map((seq) => [headOf(log, seq), signer] as const),
    );
    expect(findings).to.have.length(1);
    expect(findings[0]).to.match(
      /^\/ipledger\/v1\/log\/0000000000000004: event 4 is not the one that the checkpoint of 1970-01-01T00:00:01.000Z attests/,
    );
    expect(findings[0]).to.match(/; something from event 3 to 4 is not as it was$/);
  });

  it('whose end is gone shows it', () => {
    const [finding] = held(log.slice(0, 2), [[headOf(log, 4), signer]]);
    expect(finding).to.equal(
      `${logKey(3)}: event 3 is missing: the checkpoint of 1970-01-01T00:00:01.000Z attests 4 events, and the log ends with 2. Its tail was cut, or etcd was restored from a backup`,
    );
  });

  it('that is another ledger shows it', () => {
    const [finding] = held(log, [[{ ...headOf(log, 2), ledger: 'another' }, signer]]);
    expect(finding).to.match(/is of ledger another, and this is 01KG9AG8M00000000000000001$/);
  });

  it('that was restored meanwhile says so', () => {
    const data = { epoch: 2, seq: 2, hash: '', lostSeq: 4, reason: '' };
    const restored = chained(retired('a'), { type: 'LedgerRestored', subnet: '', data }, retired('d'));
    const [finding] = held(restored, [[headOf(log, 3), signer]]);
    expect(finding).to.match(/\. The ledger was restored since: it is of epoch 2 here$/);
  });

  it('is held to none that nobody trusted signed, nor to one that was altered', () => {
    expect(held(log, [[headOf(log, 2), newSigner()]])).to.have.length(1);
    const checkpoint = parseCheckpoint(signCheckpoint(headOf(log, 2), signer));
    const altered = {
      ...checkpoint,
      note: { ...checkpoint.note, text: checkpoint.note.text.replace('\n2\n', '\n3\n') },
    };
    const attested = new Attested([altered], [signer.verifier]);
    for (const { head, stored } of log) attested.look(head, stored);
    expect(attested.findings.map(({ what }) => what)).to.deep.equal([
      `the checkpoint of event 2: the signature of example (key ${signer.verifier.id}) is not of this text`,
    ]);
  });

  describe('whose key was rotated', () => {
    const next = newSigner('next');
    const rotation = (from: SignerKey): Event => ({
      type: 'KeyRotated',
      subnet: '',
      data: rotate(ledger, from, next.verifier),
    });
    const rotated = chained(retired('a'), rotation(signer), retired('b'));

    it('is held to the checkpoints of the old key before, and of the new one from then on', () => {
      const attestations = [
        [headOf(rotated, 2), signer],
        [headOf(rotated, 3), next],
        [headOf(rotated, 4), next],
      ] as const;
      expect(held(rotated, attestations)).to.deep.equal([]);
    });

    it('is held to none of the old key afterwards, which may be in anybody’s hands', () => {
      expect(held(rotated, [[headOf(rotated, 4), signer]])).to.have.length(1);
      expect(held(rotated, [[headOf(rotated, 2), next]])).to.have.length(1);
    });

    it('is accused when the old key did not vouch for the new one', () => {
      const { data } = rotation(newSigner()) as Extract<Event, { type: 'KeyRotated' }>;
      const forged = { type: 'KeyRotated', subnet: '', data: { ...data, previousKeyId: signer.verifier.id } } as const;
      const [first, second] = held(chained(forged), [[headOf(chained(forged), 2), next]]);
      expect(first).to.equal(`${logKey(2)}: event 2 names a key that key ${signer.verifier.id} did not sign`);
      expect(second).to.match(/no key that is trusted there$/);
    });
  });
});
