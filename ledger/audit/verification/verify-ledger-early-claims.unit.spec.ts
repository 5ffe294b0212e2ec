import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { applySubnet, bind, release } from '../../log/testing/running-writer.ts';
import { ledgerOf, verify } from '../testing/story-ledger.ts';
import type { VerificationResult } from './verify-ledger.ts';

describe('Verification of claim keys of early versions, without networks, MACs, released Pod or superseded uids', () => {
  const [key, bKey] = ['/ipledger/v1/addr/macvlan/172.17.0.11', '/ipledger/v1/addr/macvlan/172.17.0.12'];
  const again = (uid: string) => allocate('a', { candidates: [['172.17.0.11']], mac: '02:00:00:00:00:01' }, { uid });
  const replaced = [again('1'), release('a', '1'), again('2'), release('a', '2'), again('3'), release('a', '3')];
  const cooled = applySubnet('macvlan', {
    cidrBlock: '172.17.0.0/16',
    excludeIps: ['172.17.0.0..172.17.0.10'],
    cooldownMs: 0,
  });
  /**
   * Verifies a ledger after a change of one claim. The address .11 had the superseded uids 1 and 2,
   * and was released unless `held`. Pod b has .12.
   */
  async function verifyChanged(
    held: boolean,
    change: (claim: Stored) => void,
    claimKey = key,
  ): Promise<VerificationResult> {
    const ledger = await ledgerOf(
      cooled,
      ...replaced,
      ...(held ? [again('4'), again('5'), again('6'), bind('a', undefined, undefined, '6')] : []),
      allocate('b', { candidates: [['172.17.0.12']] }),
    );
    const claim = JSON.parse(ledger.get(claimKey) ?? '') as Stored;
    change(claim);
    ledger.put(claimKey, JSON.stringify(claim));
    return await verify(ledger);
  }
  interface Stored {
    networks?: string[];
    released?: { pod?: string; mac?: string };
    bindings: { mac?: string }[];
    holder?: { superseded?: string[] };
  }

  const older: Record<string, [held: boolean, change: (claim: Stored) => void]> = {
    'without any of them': [
      true,
      (claim) => {
        delete claim.networks;
        delete claim.holder?.superseded;
        delete claim.released?.pod;
        delete claim.released?.mac;
        delete claim.bindings[0]?.mac;
      },
    ],
    'without the MAC of a binding': [true, (claim) => delete claim.bindings[0]?.mac],
    'without the MAC of its release': [false, (claim) => delete claim.released?.mac],
    'with networks only, because a later version wrote it again': [
      true,
      (claim) => {
        delete claim.holder?.superseded;
        delete claim.released?.pod;
      },
    ],
    'with networks, but without the released Pod': [false, (claim) => delete claim.released?.pod],
    'with a part of the superseded uids': [true, (claim) => claim.holder?.superseded?.shift()],
  };
  for (const [what, [held, change]] of Object.entries(older))
    it(`Verification of claim keys of early versions reports no finding for a claim ${what}`, async () => {
      expect((await verifyChanged(held, change)).findings).to.deep.equal([]);
    });

  const forged: Record<string, [change: (claim: Stored) => void, what: RegExp]> = {
    'an empty list of networks': [(claim) => (claim.networks = []), /^networks\.0 is absent/],
    'another network': [
      (claim) => (claim.networks = ['san']),
      /^networks\.0 is "san", but according to the log "macvlan\.default"$/,
    ],
    'an additional network': [
      (claim) => claim.networks?.push('san'),
      /^networks\.1 is "san", but according to the log absent$/,
    ],
    'an additional MAC': [
      (claim) => (claim.bindings[0] = { ...claim.bindings[0], mac: '02:00:00:00:00:09' }),
      /^bindings\.0 is \{"mac":"02:00:00:00:00:09"\}, but according to the log absent$/,
    ],
    'an additional uid': [
      (claim) => (claim.holder = { ...claim.holder, superseded: ['9'] }),
      /^holder\.superseded is \["9"\], but according to the log absent$/,
    ],
  };
  for (const [what, [change, problem]] of Object.entries(forged))
    it(`Verification of claim keys of early versions reports a claim with ${what}`, async () => {
      const { findings } = await verifyChanged(false, change, bKey);
      expect(findings.map((finding) => finding.key)).to.deep.equal([bKey]);
      expect(findings[0]?.what).to.match(problem);
    });
});
