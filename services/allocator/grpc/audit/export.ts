/** Ledger.Export: the stored lines of the log, all or a range. */
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import { exportLines } from '../../../../ledger/log/reader/export.ts';
import type { Ledger } from '../../../../ledger/log/store/ledger.ts';
import { positionMessage } from '../messages.ts';

/** @throws IpledgerError INVALID_REQUEST; POSITION_GONE; LEDGER_DAMAGED; UNAVAILABLE. */
export async function* streamExport(
  ledger: Ledger,
  { fromSeq, toSeq }: api.ExportRequest,
  { signal }: CallContext,
): AsyncGenerator<MessageInput<api.ExportReply>> {
  const range = { ...(fromSeq > 0 && { from: fromSeq }), ...(toSeq > 0 && { to: toSeq }) };
  for await (const { head, lines } of exportLines(ledger, range, signal))
    yield { position: positionMessage(head), lines };
}
