/**
 * The fence of the northbound database: `NB_Global.external_ids:ipledger` names the ledger, the
 * position and the writer of the last transaction. Each transaction requires the value that its
 * writer saw last, and replaces it. So a projector that was suspended while another one wrote
 * cannot write its outdated rows.
 */
import type { Operation } from '../../lib/ovsdb/transaction.ts';
import { textMap } from '../../lib/ovsdb/values.ts';
import type { Position } from '../../proto/generated/ipledger.ts';
import type { StoredRow } from './northbound/northbound-view.ts';

export interface Fence extends Pick<Position, 'epoch' | 'seq'> {
  /** Id of the ledger. */
  readonly ledger: string;
  /** Identity of the projector. */
  readonly writer: string;
}

const key = 'ipledger';
const pattern = /^([^/]+)\/(\d{1,15})\/(\d{1,15})\/([^/]+)$/;

/** The value as text. */
export const formatFence = ({ ledger, epoch, seq, writer }: Fence): string => `${ledger}/${epoch}/${seq}/${writer}`;

/** Reads the fence; undefined if there is none. A text of another form is an unknown ledger. */
export function readFence(global: StoredRow | undefined): Fence | undefined {
  const text = textIn(global);
  if (text === undefined) return undefined;
  const [, ledger = text, epoch = '0', seq = '0', writer = ''] = pattern.exec(text) ?? [];
  return { ledger, epoch: Number(epoch), seq: Number(seq), writer };
}

/** Returns why the projector must not write: another ledger or a later position. */
export function writeRefusal(present: Fence | undefined, next: Fence): string | undefined {
  if (!present) return undefined;
  if (present.ledger !== next.ledger)
    return `the northbound database belongs to ledger ${present.ledger}, and this is ledger ${next.ledger}. If that ledger is not in use any more, run: ovn-nbctl remove NB_Global . external_ids ${key}`;
  if (present.epoch > next.epoch || (present.epoch === next.epoch && present.seq > next.seq))
    return `the northbound database is of event ${present.seq} in epoch ${present.epoch}, and the projector has read the ledger up to event ${next.seq} in epoch ${next.epoch}`;
  return undefined;
}

/** Returns operations that set the next fence, and fail with FENCED if it has changed. */
export function fenceOperations(global: StoredRow | undefined, next: Fence): Operation[] {
  const value = new Map([[key, formatFence(next)]]);
  if (!global)
    return [
      { op: 'wait', table: 'NB_Global', where: [], columns: ['external_ids'], until: '==', rows: [], timeoutMs: 0 },
      { op: 'insert', table: 'NB_Global', row: { external_ids: value } },
    ];
  const where = [['_uuid', '==', global.uuid]] as const;
  const text = textIn(global);
  return [
    text === undefined
      ? waitFor(where, 'external_ids', global.row['external_ids'])
      : waitFor([...where, ['external_ids', 'includes', new Map([[key, text]])]], '_uuid', global.uuid),
    {
      op: 'mutate',
      table: 'NB_Global',
      where,
      // An insertion does not replace the value of a key
      mutations: [
        ['external_ids', 'delete', new Set([key])],
        ['external_ids', 'insert', value],
      ],
    },
  ];
}

type Wait = Extract<Operation, { readonly op: 'wait' }>;

/** Waits for the value in the row that matches the conditions. */
const waitFor = (where: Wait['where'], column: string, value: StoredRow['row'][string]): Wait => ({
  op: 'wait',
  table: 'NB_Global',
  where,
  columns: [column],
  until: '==',
  rows: [{ [column]: value }],
  timeoutMs: 0,
});

function textIn(global: StoredRow | undefined): string | undefined {
  return textMap(global?.row['external_ids']).get(key);
}
