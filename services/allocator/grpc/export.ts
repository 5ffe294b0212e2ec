/** Ledger.Export: the stored lines of the log, whole or a stretch of it. */
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { exportLines } from '../ledger/export.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { positionOf } from './messages.ts';

/** @throws IpledgerError INVALID_REQUEST; POSITION_GONE; LEDGER_DAMAGED; UNAVAILABLE. */
export async function* exportLog(
  ledger: Ledger,
  { fromSeq, toSeq }: api.ExportRequest,
  { signal }: CallContext,
): AsyncGenerator<Input<api.ExportReply>> {
  const range = { ...(fromSeq > 0 && { from: fromSeq }), ...(toSeq > 0 && { to: toSeq }) };
  for await (const { position, lines } of exportLines(ledger, range, signal))
    yield { position: positionOf(position), lines };
}
