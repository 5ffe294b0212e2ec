/**
 * The meaning of the states of a cell, in the words of the legend. Their colours are in app.css,
 * their patterns in draw.ts.
 */
import type { CellState } from '../../api/address-map.ts';

export const stateWords: Readonly<Record<CellState, string>> = {
  free: 'free',
  allocated: 'allocated, no container uses it yet',
  bound: 'bound: a container uses it',
  resting: 'released, not free yet',
  reserved: 'reserved for one owner',
  quarantined: 'quarantined: a foreign host answers',
  excluded: 'excluded',
  gateway: 'gateway',
};

/** The state of a cell for a state of the API. */
export function cellStateOf(state: string): CellState {
  if (state === 'fresh' || state === 'idle') return 'free';
  if (state === 'held' || state === 'cooldown') return 'resting';
  return state in stateWords ? (state as CellState) : 'excluded';
}
