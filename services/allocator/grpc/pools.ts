/** The part of the Subnets service that is about pools. */
import { type SubnetsService } from '../../../proto/ipledger.ts';
import type * as api from '../../../proto/ipledger.ts';
import { usageOfPool } from '../domain/questions.ts';
import { Refused } from '../domain/refusal.ts';
import type { State } from '../domain/state.ts';
import { type Allocator, command, question } from './allocator.ts';
import { poolMessage, positionOf } from './messages.ts';
import { required } from '../../../lib/serving/read.ts';
import type { Handlers } from '../../../lib/serving/serve.ts';

/** ApplyPool, DeletePool, GetPool and ListPools. */
export function poolsHandlers(
  allocator: Allocator,
): Pick<Handlers<typeof SubnetsService>, 'applyPool' | 'deletePool' | 'getPool' | 'listPools'> {
  return {
    async applyPool(request, context) {
      const name = required('name', request.name);
      const spec = readSpec(request);
      const { source } = request;
      const { answer, head } = await command(
        allocator,
        context,
        (now) => ({ type: 'ApplyPool', now, name, spec, ...(source && { source }) }),
        (state) => describe(state, name),
      );
      return { position: positionOf(head), pool: answer };
    },
    async deletePool(request, context) {
      const name = required('name', request.name);
      const { head } = await command(
        allocator,
        context,
        (now) => ({ type: 'RetirePool', now, name }),
        () => undefined,
      );
      return { position: positionOf(head) };
    },
    async getPool(request, context) {
      const name = required('name', request.name);
      const { answer, head } = await question(allocator, context, (state) => describe(state, name), request);
      return { position: positionOf(head), pool: answer };
    },
    async listPools(request, context) {
      const all = (state: State) => [...state.pools.keys()].toSorted().map((name) => describe(state, name));
      const { answer, head } = await question(allocator, context, all, request);
      return { position: positionOf(head), pools: answer };
    },
  };
}

function readSpec({ spec }: api.ApplyPoolRequest) {
  return spec ?? { subnet: '', ips: [], namespaces: [] };
}

function describe(state: State, name: string) {
  const pool = state.pools.get(name);
  if (!pool) throw new Refused('POOL_UNKNOWN', `no ippool ${name} is configured`);
  return poolMessage(pool, usageOfPool(state, pool));
}
