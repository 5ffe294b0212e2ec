/** The address map as a table, for readers without the picture. */
import { useState } from 'preact/hooks';
import { type CellState, cellStates } from '../../api/address-map.ts';
import { changeQuery } from '../data/router.ts';
import { stateWords } from '../map/kinds.ts';
import type { Page } from '../map/page.ts';
import { type Run, runsOf } from '../map/runs.ts';
import { addressLink, html, type VNode } from '../parts/html.ts';

interface MapTableProps {
  readonly subnet: string;
  readonly page: Page;
}

export function MapTable({ subnet, page }: MapTableProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const toggle = (event: Event): void => setOpen((event.target as HTMLDetailsElement).open);
  return html`<details class="panel" onToggle=${toggle}>
    <summary>This map as a table</summary>
    <div class="scroll">${isOpen && (page.isOfAddresses ? addresses(subnet, page) : blocks(page))}</div>
  </details>`;
}

const addresses = (subnet: string, page: Page): VNode =>
  html`<table>
    <caption>
      The addresses that are not free.
    </caption>
    <thead>
      <tr>
        <th scope="col">First</th>
        <th scope="col">Last</th>
        <th class="number" scope="col">Addresses</th>
        <th scope="col">State</th>
      </tr>
    </thead>
    <tbody>
      ${runsOf(page).map(
        ({ first, last, count, state }: Run) =>
          html`<tr key=${first}>
            <td>${addressLink(subnet, first)}</td>
            <td>${addressLink(subnet, last)}</td>
            <td class="number">${count}</td>
            <td>${stateWords[state]}</td>
          </tr>`,
      )}
    </tbody>
  </table>`;

const blocks = (page: Page): VNode =>
  html`<table>
    <caption>
      The number of addresses in each state, for each block.
    </caption>
    <thead>
      <tr>
        <th scope="col">Block</th>
        ${cellStates.map((state: CellState) => html`<th class="number" scope="col">${state}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${Array.from({ length: page.count }, (_, index) => page.cell(index)).map(
        ({ name, counts }) =>
          html`<tr key=${name}>
            <th scope="row">
              <button class="plain address" onClick=${() => changeQuery({ range: name, select: '' })}>${name}</button>
            </th>
            ${cellStates.map((state: CellState) => html`<td class="number">${counts[state]}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
