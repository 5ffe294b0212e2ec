/**
 * The changes that a person can make to an address. Each shows what will happen before it is done.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionKind, ActionPreview, ActionRequest, ActionResult } from '../../api/action.ts';
import type { AddressState } from '../../api/address.ts';
import { apiUrl, messageOf, post } from '../data/client.ts';
import { session } from '../data/session.ts';
import { useStore } from '../data/store.ts';
import { html, text, type VNode } from './html.ts';

const words: Readonly<Record<ActionKind, string>> = {
  reserve: 'Reserve',
  unreserve: 'End the reservation',
  release: 'Release',
  quarantine: 'Quarantine',
  unquarantine: 'End the quarantine',
};

/** The changes that are possible in a state. The allocator decides about each change again. */
function actionsFor({ state, allocation, reservation, quarantine }: AddressState): ActionKind[] {
  return [
    ...(allocation ? (['release'] as const) : []),
    ...(reservation ? (['unreserve'] as const) : state === 'excluded' ? [] : (['reserve'] as const)),
    quarantine ? 'unquarantine' : 'quarantine',
  ];
}

interface ActionsProps {
  readonly state: AddressState;
  onDone(): void;
}

export function Actions({ state, onDone }: ActionsProps): VNode | string {
  const canAct = useStore(session)?.canAct ?? false;
  const [kind, setKind] = useState<ActionKind>();
  const [result, setResult] = useState('');
  if (!canAct) return '';
  const done = (sentence: string): void => {
    setKind(undefined);
    setResult(sentence);
    onDone();
  };
  return html`<div class="row" role="group" aria-label="Actions">
      ${actionsFor(state).map((each) => html`<button key=${each} onClick=${() => setKind(each)}>${words[each]} …</button>`)}
    </div>
    <p role="status">${text(result)}</p>
    ${kind && html`<${ActionDialog} ...${{ state, kind }} onClose=${() => setKind(undefined)} onDone=${done} />`}`;
}

interface DialogProps {
  readonly state: AddressState;
  readonly kind: ActionKind;
  onClose(): void;
  onDone(sentence: string): void;
}

/** Shows the reason, then the effects, then the button. */
function ActionDialog({ state, kind, onClose, onDone }: DialogProps): VNode {
  const { subnet, address } = state;
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [reservedFor, setReservedFor] = useState('');
  const [preview, setPreview] = useState<ActionPreview>();
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const body: ActionRequest = { kind, subnet, address, reason, ...(kind === 'reserve' && { reservedFor }) };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError('');
    try {
      if (!preview) setPreview(await post<ActionPreview>(apiUrl(['actions', 'preview']), body));
      else {
        const { allocationSeq } = preview;
        onDone(
          (await post<ActionResult>(apiUrl(['actions']), { ...body, ...(allocationSeq > 0 && { allocationSeq }) }))
            .text,
        );
      }
    } catch (failure) {
      setError(messageOf(failure));
    }
    setBusy(false);
  };
  return html`<dialog ref=${dialog} onClose=${onClose} aria-labelledby="action-title">
    <form onSubmit=${(event: Event) => void submit(event)}>
      <h2 id="action-title">${words[kind]}: ${address} of Subnet ${text(subnet)}</h2>
      ${
        preview
          ? html`<${Effects} preview=${preview} />`
          : html`<${Fields} ...${{ kind, reason, reservedFor, setReason, setReservedFor }} />`
      }
      ${error !== '' && html`<p class="trouble" role="alert">${text(error)}</p>`}
      <div class="row">
        ${
          (!preview || preview.possible) &&
          html`<button class="main" disabled=${isBusy}>${preview ? words[kind] : 'Show what will happen'}</button>`
        }
        ${preview && html`<button type="button" onClick=${() => setPreview(undefined)}>Back</button>`}
        <button type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  </dialog>`;
}

interface FieldsProps {
  readonly kind: ActionKind;
  readonly reason: string;
  readonly reservedFor: string;
  setReason(reason: string): void;
  setReservedFor(owner: string): void;
}

const valueOf = (event: Event): string => (event.target as HTMLInputElement).value;

const Fields = ({ kind, reason, reservedFor, setReason, setReservedFor }: FieldsProps): VNode =>
  html`${
      kind === 'reserve' &&
      html`<label class="field">
        Reserved for (for example <code>vip/web</code>)
        <input
          required
          maxlength="253"
          value=${reservedFor}
          onInput=${(event: Event) => setReservedFor(valueOf(event))}
        />
      </label>`
    }
    <label class="field">
      Reason, which the ledger keeps
      <input required maxlength="500" value=${reason} onInput=${(event: Event) => setReason(valueOf(event))} />
    </label>`;

const Effects = ({ preview: { possible, effects, warnings, command } }: { readonly preview: ActionPreview }): VNode =>
  html`<div role="status">
      <p>${possible ? 'This will happen:' : 'This is not possible now:'}</p>
      <ul>
        ${effects.map((effect) => html`<li key=${effect}>${text(effect)}</li>`)}
      </ul>
      ${warnings.map((warning) => html`<p class="trouble" key=${warning}>${text(warning)}</p>`)}
    </div>
    ${command !== '' && html`<p class="quiet">The command line does the same: <code>${command}</code></p>`}`;
