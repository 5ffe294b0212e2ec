/** The handlers of the Subnets service for pools. */
import { type SubnetsService } from '../../../../proto/generated/ipledger.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { freeOfPool, usageOfPool } from '../../../../ledger/domain/queries/queries.ts';
import { Refused } from '../../../../ledger/domain/commands/refusal.ts';
import type { State } from '../../../../ledger/domain/state/state.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { readSource } from '../read-request.ts';
import { submitCommand, runQuery } from '../run-query.ts';
import { poolMessage, positionMessage } from '../messages.ts';
import { requireField } from '../../../../lib/grpc/server/read-request.ts';
import type { Handlers } from '../../../../lib/grpc/server/serve.ts';

/** ApplyPool, DeletePool, GetPool and ListPools. */
export function poolHandlers(
  allocator: AllocatorContext,
): Pick<Handlers<typeof SubnetsService>, 'applyPool' | 'deletePool' | 'getPool' | 'listPools'> {
  return {
    async applyPool(request, context) {
      const name = requireField('name', request.name);
      const spec = readSpec(request);
      const source = readSource(request.source);
      const { answer, head } = await submitCommand(
        allocator,
        context,
        (now) => ({ type: 'ApplyPool', now, name, spec, ...(source && { source }) }),
        (state, _events, now) => describe(state, name, now),
      );
      return { position: positionMessage(head), pool: answer };
    },
    async deletePool(request, context) {
      const name = requireField('name', request.name);
      const { head } = await submitCommand(
        allocator,
        context,
        (now) => ({ type: 'RetirePool', now, name }),
        () => undefined,
      );
      return { position: positionMessage(head) };
    },
    async getPool(request, context) {
      const name = requireField('name', request.name);
      const { answer, head } = await runQuery(allocator, context, (state, now) => describe(state, name, now), request);
      return { position: positionMessage(head), pool: answer };
    },
    async listPools(request, context) {
      const all = (state: State, now: number) =>
        [...state.pools.keys()].toSorted().map((name) => describe(state, name, now));
      const { answer, head } = await runQuery(allocator, context, all, request);
      return { position: positionMessage(head), pools: answer };
    },
  };
}

function readSpec({ spec }: api.ApplyPoolRequest) {
  return spec ?? { subnet: '', ips: [], namespaces: [] };
}

function describe(state: State, name: string, now: number) {
  const pool = state.pools.get(name);
  if (!pool) throw new Refused('POOL_UNKNOWN', `no ippool ${name} is configured`);
  return poolMessage(pool, usageOfPool(state, pool), freeOfPool(state, pool, now));
}
