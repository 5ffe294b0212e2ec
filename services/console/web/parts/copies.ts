/** Copies of a view: as CSV, as JSON, and the command of the command line with the same answer. */
import { useState } from 'preact/hooks';
import { csvUrl } from '../data/client.ts';
import { html, type VNode } from './html.ts';

interface CopiesProps {
  /** The address of the view's data. */
  readonly url: string;
  /** The command with the same answer; '' for none. */
  readonly command: string;
}

export const Copies = ({ url, command }: CopiesProps): VNode =>
  html`<div class="row copies" aria-label="This view as data">
    <a href=${csvUrl(url)} download>CSV</a> <a href=${url} download>JSON</a>
    ${command !== '' && html`<code>${command}</code><${CopyButton} value=${command} what="command" />`}
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
