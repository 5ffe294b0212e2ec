import { expect } from 'chai';
import fc from 'fast-check';
import { claimKey, type ClaimName } from '../state/claim.ts';
import { initialState, type State } from '../state/state.ts';
import { listReservations, type ReservationFilter } from './queries.ts';

const anyName = fc.record({
  subnet: fc.constantFrom('lan', 'wan'),
  address: fc.nat(3_000).map((value) => `10.0.${value >> 8}.${value & 255}`),
});
const anyReservations = fc.uniqueArray(fc.tuple(fc.constantFrom('vip/a', 'vip/b', 'vip/c'), anyName), {
  selector: ([, name]) => claimKey(name),
  maxLength: 300,
  size: 'max',
});

function stateWith(reservations: readonly (readonly [string, ClaimName])[]): State {
  const state = initialState();
  for (const [owner, name] of reservations)
    state.reservations.set(owner, [...(state.reservations.get(owner) ?? []), name]);
  return state;
}

describe('listReservations', () => {
  it('listReservations returns each matching reservation on one page, in the order of names, for pages of any size', () => {
    const anyFilter: fc.Arbitrary<ReservationFilter> = fc.record(
      { subnet: fc.constantFrom('lan', 'none'), reservedFor: fc.constantFrom('vip/a', 'vip/x') },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(anyReservations, anyFilter, fc.integer({ min: 1, max: 60 }), (reservations, filter, size) => {
        const state = stateWith(reservations);
        const found: string[] = [];
        let [after, pages] = ['', 0];
        do {
          const page = listReservations(state, filter, { after, size });
          expect(page.names.length).to.be.at.most(size);
          found.push(...page.names.map(claimKey));
          after = page.next;
          pages++;
        } while (after !== '');
        const expected = reservations
          .filter(
            ([owner, { subnet }]) => owner === (filter.reservedFor ?? owner) && subnet === (filter.subnet ?? subnet),
          )
          .map(([, name]) => claimKey(name));
        expect(found).to.deep.equal(expected.toSorted());
        expect(pages, 'no empty page follows a full one').to.equal(Math.max(1, Math.ceil(expected.length / size)));
      }),
    );
  });
});
