/** The handlers of the Subnets service, for Subnets and pools. */
import type { SubnetsService } from '../../../../proto/generated/ipledger.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { freeOf, usageOf, freeOfPool, usageOfPool } from '../../../../ledger/domain/queries/queries.ts';
import type { ApplySubnet, Command, RequestedSubnet } from '../../../../ledger/domain/commands/command.ts';
import { Refused } from '../../../../ledger/domain/commands/refusal.ts';
import type { State } from '../../../../ledger/domain/state/state.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { readSource } from '../read-request.ts';
import { submitCommand, runQuery } from '../run-query.ts';
import { positionMessage, subnetMessage, poolMessage } from '../messages.ts';
import { requireField } from '../../../../lib/grpc/server/read-request.ts';
import type { CallContext, Handlers } from '../../../../lib/grpc/server/serve.ts';

export function subnetsHandlers(allocator: AllocatorContext): Handlers<typeof SubnetsService> {
  const subnets = configurations(allocator, ({ subnets: known }) => known.keys(), describeSubnet);
  const pools = configurations(allocator, ({ pools: known }) => known.keys(), describePool);
  return {
    async applySubnet(request, context) {
      const spec = subnetSpecOf(request);
      const applied = await subnets.apply(request, context, (named) => ({ type: 'ApplySubnet', ...named, spec }));
      return { position: applied.position, subnet: applied.item };
    },
    deleteSubnet: (request, context) => subnets.retire(request, context, 'RetireSubnet'),
    async getSubnet(request, context) {
      const { position, item: subnet } = await subnets.get(request, context);
      return { position, subnet };
    },
    async listSubnets(request, context) {
      const { position, items } = await subnets.list(request, context);
      return { position, subnets: items };
    },
    async applyPool(request, context) {
      const spec = request.spec ?? { subnet: '', ips: [], namespaces: [] };
      const applied = await pools.apply(request, context, (named) => ({ type: 'ApplyPool', ...named, spec }));
      return { position: applied.position, pool: applied.item };
    },
    deletePool: (request, context) => pools.retire(request, context, 'RetirePool'),
    async getPool(request, context) {
      const { position, item: pool } = await pools.get(request, context);
      return { position, pool };
    },
    async listPools(request, context) {
      const { position, items } = await pools.list(request, context);
      return { position, pools: items };
    },
  };
}

type Named = Pick<api.ApplySubnetRequest, 'name' | 'source'>;

/** The handlers for one kind of configuration that has names. */
function configurations<Item>(
  allocator: AllocatorContext,
  namesIn: (state: State) => Iterable<string>,
  describe: (state: State, name: string, now: number) => Item,
) {
  return {
    async apply(
      request: Named,
      context: CallContext,
      commandOf: (named: Omit<ApplySubnet, 'type' | 'spec'>) => Command,
    ) {
      const name = requireField('name', request.name);
      const source = readSource(request.source);
      const command = (now: number): Command => commandOf({ now, name, ...(source && { source }) });
      const answerOf = (state: State, _events: unknown, now: number): Item => describe(state, name, now);
      const { answer, head } = await submitCommand(allocator, context, command, answerOf);
      return { position: positionMessage(head), item: answer };
    },
    async retire(request: Pick<Named, 'name'>, context: CallContext, type: 'RetireSubnet' | 'RetirePool') {
      const name = requireField('name', request.name);
      const command = (now: number): Command => ({ type, now, name });
      const { head } = await submitCommand(allocator, context, command, () => undefined);
      return { position: positionMessage(head) };
    },
    async get(request: api.GetSubnetRequest, context: CallContext) {
      const name = requireField('name', request.name);
      const { answer, head } = await runQuery(allocator, context, (state, now) => describe(state, name, now), request);
      return { position: positionMessage(head), item: answer };
    },
    async list(request: api.ListSubnetsRequest, context: CallContext) {
      const all = (state: State, now: number) =>
        [...namesIn(state)].toSorted().map((name) => describe(state, name, now));
      const { answer, head } = await runQuery(allocator, context, all, request);
      return { position: positionMessage(head), items: answer };
    },
  };
}

function subnetSpecOf({ spec }: api.ApplySubnetRequest): RequestedSubnet {
  const empty = { cidrBlock: '', gateway: '', excludeIps: [], provider: '', protocol: '' };
  const { cooldownMs, bindingTimeoutMs, maxAddressesPerNamespace, probeAddresses, ...required }: api.SubnetSpec =
    spec ?? empty;
  return {
    ...required,
    ...(cooldownMs !== undefined && { cooldownMs }),
    ...(bindingTimeoutMs !== undefined && { bindingTimeoutMs }),
    ...(maxAddressesPerNamespace !== undefined && { maxAddressesPerNamespace }),
    ...(probeAddresses && { probeAddresses }),
  };
}

function describeSubnet(state: State, name: string, now: number) {
  const configured = state.subnets.get(name);
  if (!configured) throw new Refused('SUBNET_UNKNOWN', `no subnet ${name} is configured`);
  const fenced = [...state.fenced].flatMap((claim) =>
    claim.startsWith(`${name}/`) ? claim.slice(name.length + 1) : [],
  );
  return {
    ...subnetMessage(configured, usageOf(configured), freeOf(configured, now)),
    fenced: fenced.toSorted(),
  };
}

function describePool(state: State, name: string, now: number) {
  const pool = state.pools.get(name);
  if (!pool) throw new Refused('POOL_UNKNOWN', `no ippool ${name} is configured`);
  return poolMessage(pool, usageOfPool(state, pool), freeOfPool(state, pool, now));
}
