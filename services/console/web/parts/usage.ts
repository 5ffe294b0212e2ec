/** The usage of a Subnet or a pool, with its conditions. */
import type { Condition, FamilyUsage } from '../../api/subnet.ts';
import { count, html, text, type VNode } from './html.ts';

type Usage = Pick<FamilyUsage, 'family' | 'total' | 'inUse' | 'percent'>;

/** Formats a number with separators; with more than 12 digits, as of IPv6, as a power of ten. */
export const shortNumber = (decimal: string): string =>
  decimal.length <= 12
    ? Number(decimal).toLocaleString('en')
    : `${decimal[0] ?? ''}.${decimal[1] ?? ''} × 10^${decimal.length - 1}`;

export const UsageMeter = ({ usage: { family, total, inUse, percent } }: { readonly usage: Usage }): VNode =>
  html`<div class="usage">
    <meter
      min="0"
      max="100"
      low="80"
      high="95"
      optimum="0"
      value=${percent}
      aria-label=${`IPv${family}: ${percent} % in use`}
    ></meter>
    ${' '}${shortNumber(inUse)} of ${shortNumber(total)} (${Math.round(percent)} %)
  </div>`;

export const DaysLeft = ({ days }: { readonly days: number | null }): VNode =>
  days === null ? html`<span class="quiet">not growing</span>` : html`<span>${count(Math.floor(days), 'day')}</span>`;

export const Conditions = ({ conditions }: { readonly conditions: readonly Condition[] }): VNode =>
  html`${conditions.map(
    ({ type, severity, message }) =>
      html`<div key=${type}><span class=${`tag ${severity}`}>${type}</span> ${text(message)}</div>`,
  )}`;
