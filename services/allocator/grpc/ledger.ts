/** The Ledger service: the record itself. Each question is a file. */
import type { LedgerService } from '../../../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { checkpoint } from './checkpoint.ts';
import { diff } from './diff.ts';
import { exportLog } from './export.ts';
import { history } from './history.ts';
import type { Handlers } from '../../../lib/serving/serve.ts';
import { restore, thaw } from './restore.ts';
import { getStatus } from './status.ts';
import { stateAt } from './state-at.ts';
import { TimeTravel } from './time-travel.ts';
import { verify } from './verify.ts';
import { watch } from './watch.ts';
import { why } from './why.ts';

/** Everything of Ledger that is served. */
export function ledgerHandlers(allocator: Allocator): Handlers<typeof LedgerService> {
  const travel = new TimeTravel(allocator.replica);
  return {
    watch: (request, context) => watch(allocator, request, context),
    history: (request, context) => history(allocator, request, context),
    stateAt: (request, context) => stateAt(travel, request, context),
    diff: (request, context) => diff(travel, request, context),
    why: (request, context) => why(allocator, request, context),
    verify: (request, context) => verify(travel, allocator.replica.ledger, request, context),
    export: (request, context) => exportLog(allocator.replica.ledger, request, context),
    checkpoint: (_request, context) => checkpoint(allocator, context),
    getStatus: (_request, context) => getStatus(allocator, context),
    restore: (request, context) => restore(allocator, request, context),
    thaw: (_request, context) => thaw(allocator, context),
  };
}
