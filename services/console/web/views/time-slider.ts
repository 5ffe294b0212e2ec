/**
 * The time of the address map: a slider over the history, a play, and jumps from event to event.
 */
import { useEffect, useState } from 'preact/hooks';
import type { AddressMap, AddressMoments, Moment } from '../../api/address-map.ts';
import { apiUrl } from '../data/client.ts';
import { changeQuery } from '../data/router.ts';
import { useData } from '../data/use-data.ts';
import { useRested } from '../data/use-rested.ts';
import { instantOf, type MapTime, stepAfter, timeOf } from '../map/time-line.ts';
import { formatTime, html, time, type VNode } from '../parts/html.ts';

interface TimeSliderProps {
  readonly subnet: string;
  readonly map: AddressMap;
  readonly isNow: boolean;
  /** Whether `map` is of the time in the address of the page. */
  readonly isLoaded: boolean;
  /** The selected address, whose events the jumps go to; "" for those of the Subnet. */
  readonly address: string;
}

const playMs = 400;

const show = (target: MapTime): void => changeQuery({ seq: '', at: '', ...target }, { replace: true });

export function TimeSlider({ subnet, map, isNow, isLoaded, address }: TimeSliderProps): VNode {
  const { first, last, moment } = map;
  const [dragged, setDragged] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const jumps = useJumps({ subnet, map, address });
  const { previous = null, next = null } = jumps ?? {};

  // One request at a time: the newest place of the slider waits for the pending reply
  useEffect(() => {
    if (dragged === undefined || !isLoaded) return;
    show(dragged >= Date.parse(last.at) ? {} : { at: instantOf(dragged) });
    setDragged(undefined);
  }, [dragged, isLoaded]);

  useEffect(() => {
    if (!isPlaying || !isLoaded || !jumps) return undefined;
    const step = address !== '' && next ? timeOf(next) : stepAfter({ ...map, next });
    const timer = setTimeout(() => {
      show(step ?? {});
      if (!step) setPlaying(false);
    }, playMs);
    return () => clearTimeout(timer);
  }, [isPlaying, isLoaded, map, jumps !== undefined]);

  const play = (): void => {
    if (!isPlaying && isNow) show(timeOf(first));
    setPlaying(!isPlaying);
  };
  const jump = (target: Moment | null): void => {
    setPlaying(false);
    if (target) show(timeOf(target));
  };
  const of = address === '' ? '' : ` of ${address}`;
  const value = dragged ?? (isNow ? Date.parse(last.at) : Date.parse(moment.at));
  return html`<div class="slider" role="group" aria-label="Time of the map">
    <input
      type="range"
      min=${Date.parse(first.at)}
      max=${Math.max(Date.parse(first.at) + 1, Date.parse(last.at))}
      step="1"
      value=${value}
      aria-label="Time"
      aria-valuetext=${isNow && dragged === undefined ? 'now' : formatTime(instantOf(value))}
      onInput=${(event: Event) => setDragged(Number((event.target as HTMLInputElement).value))}
    />
    <div class="ends quiet">
      <span>${formatTime(first.at)}</span><span>${formatTime(last.at)}, the last event</span>
    </div>
    <div class="row">
      <button onClick=${() => jump(previous)} disabled=${!previous}>Previous event${of}</button>
      <button onClick=${play}>${isPlaying ? 'Pause' : 'Play'}</button>
      <button onClick=${() => jump(next)} disabled=${!next}>Next event${of}</button>
      ${
        isNow
          ? html`<button onClick=${() => show(timeOf(moment))}>Stay at this event</button>`
          : html`<button onClick=${() => show({})}>Now</button>`
      }
      <span>${isNow ? html`<b>Now</b>` : html`<b>${time(moment.at)}</b>`}, after event ${moment.seq}</span>
    </div>
  </div>`;
}

interface Jumps {
  readonly subnet: string;
  readonly map: AddressMap;
  readonly address: string;
}

/**
 * The events before and after the time of the map, of the selected address or of the Subnet;
 * undefined while they are read.
 */
function useJumps({ subnet, map, address }: Jumps): Pick<AddressMoments, 'previous' | 'next'> | undefined {
  const isRested = useRested(address);
  const { family, moment } = map;
  const url =
    address === '' || !isRested
      ? ''
      : apiUrl(['subnets', subnet, 'moments'], { family: String(family), seq: String(moment.seq), address });
  const { value, of } = useData<AddressMoments>(url);
  return address === '' ? map : url !== '' && of === url ? value : undefined;
}
