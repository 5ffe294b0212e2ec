/**
 * The address map of a Subnet with its time slider, and the selection. The address of the page has
 * all of it.
 */
import { useMemo } from 'preact/hooks';
import { type AddressMap, cellStates, type CellState } from '../../api/address-map.ts';
import { type Cidr, cidrsOverlap, formatCidr, parseCidr } from '../../../../ledger/domain/addresses/address.ts';
import { apiUrl } from '../data/client.ts';
import { addressHref } from '../data/location.ts';
import { changeQuery, navigate, usePlace } from '../data/router.ts';
import { type LoadedPages, usePages } from '../data/use-data.ts';
import { stateWords } from '../map/kinds.ts';
import { Legend } from '../map/legend.ts';
import { MapCanvas } from '../map/map-canvas.ts';
import { type Cell, type Page, pageOf, parentOf } from '../map/page.ts';
import { Copies } from '../parts/copies.ts';
import { count, html, type VNode } from '../parts/html.ts';
import { More } from '../parts/more.ts';
import { absence } from '../parts/view.ts';
import { MapTable } from './map-table.ts';
import { Selection } from './selection.ts';
import { TimeSlider } from './time-slider.ts';

/** The prefix of the largest Subnet that comes as one map. Its blocks open without a request. */
const wholePrefix = 16;
const refreshMs = 5_000;

interface SubnetMapProps {
  readonly subnet: string;
  readonly cidr: Cidr;
}

export function SubnetMap({ subnet, cidr }: SubnetMapProps): VNode {
  const { query } = usePlace();
  const { seq, at } = query;
  const block = blockIn(cidr, query['range'] ?? '');
  const isWhole = cidr.family === 6 || cidr.prefix >= wholePrefix;
  const url = apiUrl(['subnets', subnet, 'map'], {
    family: String(cidr.family),
    seq,
    at,
    range: isWhole ? '' : formatCidr(block),
  });
  const isNow = seq === undefined && at === undefined;
  const list = usePages<AddressMap>(url, isNow ? refreshMs : 0);
  const { value } = list.first;
  const map = useMemo(() => value && withPages(value, list.more), [value, list.more.length]);
  // While another range loads, the map is still of the range before
  const shown = isWhole ? block : ((map && parseCidr(map.cidr)) ?? block);
  const page = useMemo(() => map && pageOf(map, shown), [map, formatCidr(shown)]);
  if (!map || !page) return html`<section class="panel">${absence(list.first)}</section>`;
  return html`<${LoadedMap}
    ...${{ subnet, cidr, block, isNow, url, list, map, page, select: query['select'] ?? '' }}
  />`;
}

interface LoadedMapProps extends SubnetMapProps {
  readonly block: Cidr;
  readonly isNow: boolean;
  readonly url: string;
  readonly list: LoadedPages<AddressMap>;
  readonly map: AddressMap;
  readonly page: Page;
  readonly select: string;
}

function LoadedMap({ subnet, cidr, block, isNow, url, list, map, page, select }: LoadedMapProps): VNode {
  const parent = parentOf(block, cidr);
  const leave = (): void => {
    if (parent)
      changeQuery({ range: parent.prefix === cidr.prefix ? '' : formatCidr(parent), select: formatCidr(block) });
  };
  const open = (index: number): void => {
    const { name } = page.cell(index);
    if (page.isOfAddresses) navigate(addressHref(subnet, name));
    else changeQuery({ range: name, select: '' });
  };
  const selected = page.indexOf(select);
  const address = selected >= 0 && page.isOfAddresses ? select : '';
  return html`<div class="beside">
      <section class="panel" aria-label="Address map">
        <div class="row">
          <h2 class="address">${formatCidr(block)}</h2>
          ${parent && html`<span class="quiet">part of ${formatCidr(cidr)}</span>`}
          ${parent && html`<button onClick=${leave}>Back to the larger map</button>`}
        </div>
        <${TimeSlider} ...${{ subnet, map, isNow, address, isLoaded: list.first.of === url }} />
        ${list.first.error === '' ? '' : absence(list.first)}
        <${MapCanvas}
          name=${`Address map of Subnet ${subnet}, ${formatCidr(block)}`}
          page=${page}
          selected=${selected}
          describe=${(index: number) => describe(page.cell(index))}
          onSelect=${(index: number) => changeQuery({ select: page.cell(index).name }, { replace: true })}
          onOpen=${open}
          onLeave=${leave}
        />
        ${page.count === 0 && html`<p class="quiet">No address of this range was in use, reserved or quarantined.</p>`}
        <${More} pages=${list} label="Show more addresses" />
        <${Legend} />
      </section>
      <aside aria-label="Selection and data">
        <${Selection} ...${{ subnet, map, page, selected, isNow }} />
        <section class="panel">
          <h2>This map as data</h2>
          <${Copies} url=${url} command=${map.command} />
        </section>
      </aside>
    </div>
    <${MapTable} subnet=${subnet} page=${page} />`;
}

/** Parses a block that is a part of the Subnet; the whole Subnet for other text. */
function blockIn(cidr: Cidr, text: string): Cidr {
  const block = parseCidr(text);
  return block && cidrsOverlap(block, cidr) && block.prefix > cidr.prefix ? block : cidr;
}

const withPages = (map: AddressMap, more: readonly AddressMap[]): AddressMap =>
  map.used ? { ...map, used: [map, ...more].flatMap(({ used = [] }) => used) } : map;

/** Describes a cell: "10.8.0.5: reserved for one owner", "10.8.3.0/24: 20 addresses bound". */
function describe({ name, counts }: Cell): string {
  const present = cellStates.filter((state) => counts[state] > 0);
  const [only] = present;
  if (!name.includes('/')) return `${name}: ${stateWords[only ?? 'free']}`;
  const words = present.map((state: CellState) => `${count(counts[state], 'address')} ${state}`);
  return `${name}: ${words.join(', ')}`;
}
