/** An address's whole history, subnet by subnet, put together for an instant. */
import { type IpledgerError, isGone } from '../../lib/errors.ts';
import { type Event, LedgerService, type Position } from '../../proto/ipledger.ts';
import type { Allocator } from '../allocator.ts';
import { historyOf, historyPage } from '../history.ts';
import { at, tenuresOf, type Then } from '../tenure.ts';

export interface Question {
  readonly address: string;
  /** undefined: in all that know the address. */
  readonly subnet: string | undefined;
  /** RFC 3339 in UTC with milliseconds; undefined: now. */
  readonly instant: string | undefined;
}

/** What a subnet's address was then. */
export interface Found extends Then {
  readonly subnet: string;
  /** When the oldest event happened that can be read, where older ones are sealed and not at hand; else "". */
  readonly unknownBefore: string;
}

export interface LookedUp {
  readonly position: Position | undefined;
  /** Which instant it is true of. */
  readonly at: string;
  /** None: the address was never used. */
  readonly subnets: readonly Found[];
}

/** Told now and then, how many events were read, and when the last of them happened. */
export type Progress = (events: number, at: string) => void;

/**
 * Who had it then. The whole history of the address is read, however long: its very first event may be a reservation that lasts
 * until today.
 * @throws IpledgerError POSITION_GONE where the events that tell it are sealed and not at hand.
 */
export async function lookUp(
  allocator: Allocator,
  { address, subnet, instant: asked }: Question,
  onProgress?: Progress,
): Promise<LookedUp> {
  const { position, subnets: known, newest } = await glance(allocator, { address, subnet });
  // The ledger's clock may be ahead of this one
  const instant = asked ?? later(new Date().toISOString(), newest);
  const subnets: Found[] = [];
  for (const name of known) {
    const { events, gone } = await wholeStory(allocator, { address, subnet: name }, onProgress);
    if (gone && !events.some((event) => event.at <= instant && saysWhose(event))) throw gone;
    const unknownBefore = gone ? (events.at(-1)?.at ?? '') : '';
    subnets.push({ subnet: name, ...at(instant, tenuresOf(events)), unknownBefore });
  }
  return { position, at: instant, subnets };
}

async function glance(allocator: Allocator, about: { readonly address: string; readonly subnet: string | undefined }) {
  const { position, subnets, events } = await historyPage(allocator, { ...about, pageSize: 1 });
  return { position, subnets, newest: events[0]?.at ?? '' };
}

const later = (a: string, b: string): string => (a > b ? a : b);

interface Story {
  /** Newest first. */
  readonly events: readonly Event[];
  /** Why there are no older ones. */
  readonly gone: IpledgerError | undefined;
}

async function wholeStory(
  allocator: Allocator,
  about: { readonly address: string; readonly subnet: string },
  onProgress: Progress | undefined,
): Promise<Story> {
  const events: Event[] = [];
  try {
    for await (const page of historyOf(allocator, about, Infinity)) {
      // The stored line takes as much memory as all else of an event
      for (const event of page.events) events.push({ ...event, stored: '' });
      onProgress?.(events.length, events.at(-1)?.at ?? '');
    }
    return { events, gone: undefined };
  } catch (error) {
    if (isGone(error)) return { events, gone: error };
    throw error;
  }
}

/** Whether it is known, from this event on, whose the address was. */
const saysWhose = ({ addressAllocated, addressTransferred, addressReleased }: Event): boolean =>
  (addressAllocated ?? addressTransferred ?? addressReleased) !== undefined;

/** When the ledger began, where that was after an instant. */
export async function beginningAfter(allocator: Allocator, instant: string): Promise<string | undefined> {
  const { oldestSeq, oldestAt } = await allocator.ask(LedgerService.getStatus, {});
  return oldestSeq === 1 && oldestAt > instant ? oldestAt : undefined;
}
