/**
 * Whether the ledger still holds what somebody remembers of it. etcd restored from a backup is a ledger like any other, only an
 * older one: nothing in it tells, but whoever has seen more of it can.
 */
import { unlessGone } from '../../../lib/errors.ts';
import { type Head, parseEvent } from './chain.ts';
import type { Ledger } from './ledger.ts';

/** A place in the ledger, as somebody remembers it. */
export type Remembered = Pick<Head, 'epoch' | 'seq' | 'hash'>;

/** `restored`: it was rewound, and an operator has let it go on since, in a new epoch. */
export type Continuity = 'holds' | 'rewound' | 'restored';

/** @param head where the ledger stands, read just now. @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED */
export async function continuityOf(
  ledger: Ledger,
  { known, head }: { readonly known: Remembered; readonly head: Head },
  signal: AbortSignal,
): Promise<Continuity> {
  if (known.seq === 0) return 'holds';
  if (head.epoch !== known.epoch) return head.epoch > known.epoch ? 'restored' : 'rewound';
  if (known.seq > head.seq) return 'rewound';
  const hash = known.seq === head.seq ? head.hash : await hashAt(ledger, known, signal);
  return hash === known.hash ? 'holds' : 'rewound';
}

/** What is sealed and not at hand is taken on trust: whoever remembers it is told that it is gone. */
async function hashAt(ledger: Ledger, { seq, hash }: Remembered, signal: AbortSignal): Promise<string | undefined> {
  const lines = await unlessGone(ledger.readEach([seq], signal));
  if (!lines) return hash;
  const [line] = lines;
  return line && parseEvent(line.text).hash;
}
