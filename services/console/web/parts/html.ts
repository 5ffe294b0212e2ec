/** Elements that every view uses. A text becomes a text node, never markup. */
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { addressHref, podHref, subnetHref } from '../data/location.ts';

export { html };
export type { ComponentChildren, VNode };

/** A text of a tenant or of another program: its direction stays inside of it. */
export const text = (value: string): VNode => html`<bdi>${value}</bdi>`;

/** An address, a MAC or a CIDR. */
export const address = (value: string): VNode => html`<span class="address">${value}</span>`;

/** An instant of the ledger in UTC: the same for every reader. "" shows nothing. */
export const time = (instant: string): VNode | string =>
  instant === '' ? '' : html`<time datetime=${instant} title=${instant}>${wholeWords(formatTime(instant))}</time>`;

/** The date and the time of day, each on one line. */
const wholeWords = (formatted: string): VNode => {
  const [date = '', ...rest] = formatted.split(' ');
  return html`<span>${date}</span> <span>${rest.join(' ')}</span>`;
};

/** Formats "2026-11-17T14:05:00.250Z" without the milliseconds. */
export const formatTime = (instant: string): string => instant.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');

export const addressLink = (subnet: string, address: string): VNode =>
  html`<a class="address" href=${addressHref(subnet, address)}>${address}</a>`;

export const podLink = ({ namespace, name }: { readonly namespace: string; readonly name: string }): VNode =>
  html`<a href=${podHref(namespace, name)}>${text(`${namespace}/${name}`)}</a>`;

export const subnetLink = (name: string): VNode => html`<a href=${subnetHref(name)}>${text(name)}</a>`;

/** A row of a `dl`; no row for a value that is absent or ''. */
export const fact = (name: ComponentChildren, value: ComponentChildren): VNode | string =>
  value === '' || value === null || value === undefined || value === false
    ? ''
    : html`<dt>${name}</dt>
        <dd>${value}</dd>`;

/** The type of an event in words: "Address allocated" for AddressAllocated. */
export const typeWords = (type: string): string =>
  type.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** A number with its noun: "1 event", "2 events". */
export const count = (number: number | string, noun: string): string =>
  `${Number(number).toLocaleString('en')} ${noun}${Number(number) === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
