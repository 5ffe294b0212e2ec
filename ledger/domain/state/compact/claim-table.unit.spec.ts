import { expect } from 'chai';
import fc from 'fast-check';
import { anyClaim } from '../../testing/any-claim.ts';
import { type Claim, claimKey, formerMacKeysOf, releasedMacKeysOf, sandboxKeysOf } from '../claim.ts';
import { boundAllocations, type ClaimMap, ClaimObjects } from '../claims.ts';
import { UndoLog } from '../undo-log.ts';
import { ClaimBytes } from './claim-bytes.ts';
import { ClaimStore } from './claim-store.ts';
import { ClaimTable } from './claim-table.ts';

const subnets = ['small', 'wide'];
const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', 'fd00::1', 'fd00::2'];

type Step =
  | { readonly kind: 'set'; readonly subnet: string; readonly address: string; readonly claim: Claim }
  | { readonly kind: 'delete'; readonly subnet: string; readonly address: string }
  | { readonly kind: 'savepoint' }
  | { readonly kind: 'rollBack' };

const anyName = { subnet: fc.constantFrom(...subnets), address: fc.constantFrom(...addresses) };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('set' as const), ...anyName, claim: anyClaim }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), ...anyName }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'savepoint' } as const, { kind: 'rollBack' } as const) },
);

/** Tables of two Subnets in one store, and Maps with the same claims. */
class Twins {
  readonly store: ClaimStore;
  readonly tables: ReadonlyMap<string, ClaimMap>;
  readonly maps = new Map<string, ClaimMap>(subnets.map((subnet) => [subnet, new ClaimObjects()]));
  readonly #undoLogs = [new UndoLog(), new UndoLog()] as const;
  #savepoint = this.#undoLogs[0].savepoint();

  constructor(maxShared: number, maxDecoded: number) {
    this.store = new ClaimStore(new ClaimBytes(maxShared, maxDecoded), maxDecoded);
    this.tables = new Map(subnets.map((subnet) => [subnet, new ClaimTable(this.store, subnet)]));
  }

  apply(step: Step): void {
    if (step.kind === 'savepoint') this.#savepoint = this.#undoLogs[0].savepoint();
    for (const [index, undoLog] of this.#undoLogs.entries())
      if (step.kind === 'rollBack') undoLog.rollBack(this.#savepoint);
      else if (step.kind !== 'savepoint') {
        const map = [this.tables, this.maps][index]?.get(step.subnet) as ClaimMap;
        if (step.kind === 'set') undoLog.setKey(map, step.address, step.claim);
        else undoLog.deleteKey(map, step.address);
      }
  }
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted();

/** Compares every lookup of the tables with the Maps. */
function expectEqual({ store, tables, maps }: Twins): void {
  for (const [subnet, map] of maps) {
    const table = tables.get(subnet) as ClaimMap;
    expect([...table], 'the claims, in their order').to.deep.equal([...map]);
    expect([...table.keys()]).to.deep.equal([...map.keys()]);
    expect([...table.values()]).to.deep.equal([...map.values()]);
    expect([...table.outlines()]).to.deep.equal([...map.outlines()]);
    expect(table.size).to.equal(map.size);
    for (const address of addresses) {
      expect(table.get(address)).to.deep.equal(map.get(address));
      expect(table.has(address)).to.equal(map.has(address));
    }
  }
  const claims = [...maps].flatMap(([subnet, map]) => [...map].map(([address, claim]) => ({ subnet, address, claim })));
  for (const key of new Set([...claims.flatMap(({ claim }) => sandboxKeysOf(claim)), 'c1/net1', 'other']))
    expect((store.withSandbox(key) ?? []).map(claimKey).toSorted()).to.deep.equal(
      claims
        .filter(({ claim }) => sandboxKeysOf(claim).includes(key))
        .map(claimKey)
        .toSorted(),
    );
  const nodes = distinct(claims.flatMap(({ claim }) => claim.bindings.map(({ node }) => node)));
  expect([...store.nodesFrom('')]).to.deep.equal(nodes);
  for (const node of nodes) {
    const places = claims.flatMap(({ subnet, address, claim }) =>
      (boundAllocations(claim).get(node) ?? []).map((alloc) => `${alloc} ${claimKey({ subnet, address })}`),
    );
    const found = [...store.after(-1, node)];
    expect(found.map(({ alloc, name }) => `${alloc} ${claimKey(name)}`).toSorted()).to.deep.equal(places.toSorted());
    for (const { name, claim } of found) expect(claim).to.deep.equal(maps.get(name.subnet)?.get(name.address));
  }
  const macLookups = [
    [formerMacKeysOf, (key: string) => store.withFormerMac(key)],
    [releasedMacKeysOf, (key: string) => store.withReleasedMac(key)],
  ] as const;
  for (const [keysOf, find] of macLookups)
    for (const key of new Set([...claims.flatMap(({ claim }) => keysOf(claim)), 'wide/other']))
      expect((find(key) ?? []).map(claimKey).toSorted()).to.deep.equal(
        claims
          .filter(({ claim }) => keysOf(claim).includes(key))
          .map(claimKey)
          .toSorted(),
      );
}

describe('ClaimTable', () => {
  for (const [maxShared, maxDecoded] of [
    [1_000, 100],
    [2, 1],
  ] as const)
    it(`ClaimTable behaves as a Map under random changes and undos, with ${maxShared} shared texts and ${maxDecoded} decoded claims`, () => {
      fc.assert(
        fc.property(fc.array(anyStep, { maxLength: 60, size: 'max' }), (steps) => {
          const twins = new Twins(maxShared, maxDecoded);
          for (const step of steps) twins.apply(step);
          expectEqual(twins);
        }),
      );
    });

  it('ClaimTable returns the same object for a claim that is read twice', () => {
    const table = new ClaimTable(new ClaimStore(new ClaimBytes()), 'small');
    table.set('10.0.0.1', { last: 1, lastAt: 2, networks: [], bindings: [] });
    expect(table.get('10.0.0.1')).to.equal(table.get('10.0.0.1'));
  });

  it('ClaimTable returns, and finds by its container, a claim that is restored', () => {
    fc.assert(
      fc.property(anyClaim, anyClaim, (one, other) => {
        const store = new ClaimStore(new ClaimBytes());
        const table = new ClaimTable(store, 'small');
        table.restore('10.0.0.1', one);
        expect(table.get('10.0.0.1')).to.deep.equal(one);
        for (const key of sandboxKeysOf(one))
          expect(store.withSandbox(key)).to.deep.equal([{ subnet: 'small', address: '10.0.0.1' }]);
        table.set('10.0.0.1', other);
        expect([...table]).to.deep.equal([['10.0.0.1', other]]);
      }),
    );
  });

  it('ClaimTable skips claims that are deleted during a pass, and claims that another Subnet has in their place', () => {
    const { tables } = new Twins(10, 10);
    const [small, wide] = [tables.get('small') as ClaimMap, tables.get('wide') as ClaimMap];
    const claim: Claim = { last: 1, lastAt: 2, networks: [], bindings: [] };
    for (const address of addresses) small.set(address, claim);
    const seen: string[] = [];
    for (const address of small.keys()) {
      seen.push(address);
      small.delete('10.0.0.2');
      small.delete('fd00::1');
      wide.set('10.0.0.2', claim);
    }
    expect(seen).to.deep.equal(['10.0.0.1', '10.0.0.3', 'fd00::2']);
  });
});
