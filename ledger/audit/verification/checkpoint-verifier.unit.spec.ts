import { expect } from 'chai';
import { parseCheckpoint, signCheckpoint } from '../checkpoints/checkpoint.ts';
import { generateKey, parseSignerKey, type SignerKey } from '../checkpoints/signing-key.ts';
import { signRotation } from '../checkpoints/key-rotation.ts';
import { chainEvent, emptyHead, type Head, type StoredEvent } from '../../log/chain/chain.ts';
import { headKey, logKey } from '../../log/store/keys.ts';
import type { Event } from '../../domain/events/event.ts';
import { CheckpointVerifier } from './checkpoint-verifier.ts';

const newSigner = (name = 'example'): SignerKey => parseSignerKey(generateKey(name).signer);
const ledger = '01KG9AG8M00000000000000001';
const signer = newSigner();

interface Place {
  readonly stored: StoredEvent;
  readonly head: Head;
}

/** Builds the hash chain of these events. */
function chained(...events: readonly Event[]): Place[] {
  const places: Place[] = [];
  for (const event of [{ type: 'LedgerCreated', subnet: '', data: { ledger } } as const, ...events]) {
    const head = places.at(-1)?.head ?? emptyHead;
    const wrapping = { part: [1, 1], at: 1_000, clock: 1_000, actor: 'spec', before: {} } as const;
    places.push(
      chainEvent(head, event, { id: `event-${places.length}`, command: `command-${places.length}`, ...wrapping }),
    );
  }
  return places;
}

const retired = (subnet: string): Event => ({ type: 'SubnetRetired', subnet, data: {} });
const headOf = (places: readonly Place[], seq: number): Head => places[seq - 1]?.head ?? emptyHead;

/** Returns the findings for a log and checkpoints of these heads. */
function held(
  log: readonly Place[],
  attestations: readonly (readonly [Head, SignerKey])[],
  trusted: readonly SignerKey[] = [signer],
): string[] {
  const checkpoints = attestations.map(([head, by]) => parseCheckpoint(signCheckpoint(head, by)));
  const attested = new CheckpointVerifier(
    checkpoints,
    trusted.map(({ verifier }) => verifier),
  );
  for (const { head, stored } of log) attested.checkEvent(head, stored);
  attested.checkEnd(log.at(-1)?.head ?? emptyHead);
  expect(attested.comparedCount).to.equal(attestations.length);
  return attested.findings.map(({ key, what }) => `${key}: ${what}`);
}

describe('CheckpointVerifier', () => {
  const log = chained(retired('a'), retired('b'), retired('c'));

  it('CheckpointVerifier accepts the checkpoints of the ledger in any order, also repeated checkpoints', () => {
    const seqs = [3, 1, 4, 3];
    expect(
      held(
        log,
        seqs.map((seq) => [headOf(log, seq), signer] as const),
      ),
    ).to.deep.equal([]);
  });

  it('CheckpointVerifier reports a finding if no checkpoint was compared', () => {
    expect(held(log, [])).to.deep.equal([
      `${headKey}: no checkpoint was compared: none was given, so that nothing proves this log. If a file of checkpoints is empty, another program emptied it`,
    ]);
  });

  it('CheckpointVerifier reports the range in which a rewritten ledger begins to differ', () => {
    const rewritten = chained(retired('a'), retired('x'), retired('c'));
    const findings = held(
      rewritten,
      [1, 2, 4].map((seq) => [headOf(log, seq), signer] as const),
    );
    expect(findings).to.have.length(1);
    expect(findings[0]).to.match(
      /^\/ipledger\/v1\/log\/0000000000000004: event 4 differs from the checkpoint of 1970-01-01T00:00:01.000Z/,
    );
    expect(findings[0]).to.match(/\. An event from 3 to 4 was changed$/);
  });

  it('CheckpointVerifier reports that the end of the log is missing', () => {
    const [finding] = held(log.slice(0, 2), [[headOf(log, 4), signer]]);
    expect(finding).to.equal(
      `${logKey(3)}: event 3 is missing: the checkpoint of 1970-01-01T00:00:01.000Z has 4 events, and the log ends with event 2. The last events were deleted, or etcd was restored from a backup`,
    );
  });

  it('CheckpointVerifier reports another ledger', () => {
    const [finding] = held(log, [[{ ...headOf(log, 2), ledger: 'another' }, signer]]);
    expect(finding).to.match(/is of ledger another, but this is ledger 01KG9AG8M00000000000000001$/);
  });

  it('CheckpointVerifier reports a restore of the ledger', () => {
    const data = { epoch: 2, seq: 2, hash: '', lostSeq: 4, reason: '' };
    const restored = chained(retired('a'), { type: 'LedgerRestored', subnet: '', data }, retired('d'));
    const [finding] = held(restored, [[headOf(log, 3), signer]]);
    expect(finding).to.match(/\. The ledger was restored since: it is now in epoch 2$/);
  });

  it('CheckpointVerifier rejects checkpoints that no trusted key signed, and changed checkpoints', () => {
    expect(held(log, [[headOf(log, 2), newSigner()]])).to.have.length(1);
    const checkpoint = parseCheckpoint(signCheckpoint(headOf(log, 2), signer));
    const altered = {
      ...checkpoint,
      note: { ...checkpoint.note, text: checkpoint.note.text.replace('\n2\n', '\n3\n') },
    };
    const attested = new CheckpointVerifier([altered], [signer.verifier]);
    for (const { head, stored } of log) attested.checkEvent(head, stored);
    expect(attested.findings.map(({ what }) => what)).to.deep.equal([
      `the checkpoint of event 2: the signature of example (key ${signer.verifier.id}) does not match this text`,
    ]);
  });

  describe('after a key rotation', () => {
    const next = newSigner('next');
    const rotation = (from: SignerKey): Event => ({
      type: 'KeyRotated',
      subnet: '',
      data: signRotation(ledger, from, next.verifier),
    });
    const rotated = chained(retired('a'), rotation(signer), retired('b'));

    it('CheckpointVerifier accepts checkpoints of the old key before the rotation, and of the new key after the rotation', () => {
      const attestations = [
        [headOf(rotated, 2), signer],
        [headOf(rotated, 3), next],
        [headOf(rotated, 4), next],
      ] as const;
      expect(held(rotated, attestations)).to.deep.equal([]);
    });

    it('CheckpointVerifier rejects later checkpoints of the old key, which may have leaked', () => {
      expect(held(rotated, [[headOf(rotated, 4), signer]])).to.have.length(1);
      expect(held(rotated, [[headOf(rotated, 2), next]])).to.have.length(1);
    });

    it('CheckpointVerifier reports a new key that the old key did not sign', () => {
      const { data } = rotation(newSigner()) as Extract<Event, { type: 'KeyRotated' }>;
      const forged = { type: 'KeyRotated', subnet: '', data: { ...data, previousKeyId: signer.verifier.id } } as const;
      const [first, second] = held(chained(forged), [[headOf(chained(forged), 2), next]]);
      expect(first).to.equal(`${logKey(2)}: event 2 rotates to a key that key ${signer.verifier.id} did not sign`);
      expect(second).to.match(/is not a trusted key at this event$/);
    });
  });
});
