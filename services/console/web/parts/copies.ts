/**
 * What a view can be taken away as: CSV, JSON, and the command of the command line that shows the
 * same.
 */
import { useState } from 'preact/hooks';
import { html, type VNode } from './html.ts';

export interface CopiesProps {
  /** Addresses of the server; "" where there is none. */
  readonly csv: string;
  readonly json: string;
  readonly command: string;
}

export const Copies = ({ csv, json, command }: CopiesProps): VNode =>
  html`<div class="row copies" aria-label="This view as data">
    ${csv === '' ? '' : html`<a href=${csv} download>CSV</a>`}
    ${json === '' ? '' : html`<a href=${json} download>JSON</a>`}
    <code>${command}</code><${CopyButton} value=${command} what="command" />
  </div>`;

export function CopyButton({ value, what }: { readonly value: string; readonly what: string }): VNode {
  const [copied, setCopied] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value); // without https there is no clipboard
      setCopied('Copied.');
    } catch {
      setCopied('The browser does not permit it: select the text and copy it.');
    }
  };
  return html`<button type="button" onClick=${() => void copy()}>Copy the ${what}</button>
    <span class="copied" role="status">${copied}</span>`;
}
