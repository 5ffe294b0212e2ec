/** Parses a line of the log. Rejects a line whose key names another event. */
import { IpledgerError, errorMessage } from '../../../lib/errors.ts';
import { NewerEventError, parseEvent, type StoredEvent } from '../chain/chain.ts';
import { logKey } from './keys.ts';
import type { StoredLine } from './ledger.ts';

/** @throws IpledgerError LEDGER_DAMAGED; NewerEventError for an event of a newer program */
export function parseLine({ key, text }: Pick<StoredLine, 'key' | 'text'>): StoredEvent {
  const event = parseNamed(key, text);
  const { seq } = event.envelope;
  if (key === logKey(seq)) return event;
  throw damaged(key, `its value is event ${seq}, whose key is ${logKey(seq)}`);
}

function parseNamed(key: string, text: string): StoredEvent {
  try {
    return parseEvent(text);
  } catch (error) {
    if (error instanceof NewerEventError) throw error;
    throw damaged(key, errorMessage(error));
  }
}

const damaged = (key: string, reason: string): IpledgerError =>
  new IpledgerError(
    'LEDGER_DAMAGED',
    `${key}: ${reason}. Another program wrote this key. Run: ipledger verify --etcd URLS`,
  );
