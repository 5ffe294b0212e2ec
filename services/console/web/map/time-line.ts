/** The times that the slider of the map can show, and the steps through them. */
import type { AddressMap, Moment } from '../../api/address-map.ts';

/** The time of the map: after an event, or at an instant; now without both. */
export interface MapTime {
  readonly seq?: string;
  readonly at?: string;
}

type Line = Pick<AddressMap, 'first' | 'last' | 'moment' | 'next'>;

/** The approximate number of steps of a whole play. */
const stepsOfPlay = 200;

export const instantOf = (ms: number): string => new Date(ms).toISOString();

/**
 * The next step of a play: the next event, but at least a part of the whole time, so that a time
 * without events is left out. undefined at the end.
 */
export function stepAfter({ first, last, moment, next }: Line): MapTime | undefined {
  if (!next) return undefined;
  const step = (Date.parse(last.at) - Date.parse(first.at)) / stepsOfPlay;
  const target = Date.parse(moment.at) + step;
  return Date.parse(next.at) >= target ? { seq: String(next.seq) } : { at: instantOf(target) };
}

export const timeOf = ({ seq }: Moment): MapTime => ({ seq: String(seq) });
