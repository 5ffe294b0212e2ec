/** The handlers of the Subnets service. */
import { type SubnetsService } from '../../../../proto/generated/ipledger.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { freeOf, usageOf } from '../../../../ledger/domain/queries/queries.ts';
import { Refused } from '../../../../ledger/domain/commands/refusal.ts';
import type { State } from '../../../../ledger/domain/state/state.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { readSource } from '../read-request.ts';
import { submitCommand, runQuery } from '../run-query.ts';
import { positionMessage, subnetMessage } from '../messages.ts';
import { poolHandlers } from './pools.ts';
import { requireField } from '../../../../lib/grpc/server/read-request.ts';
import type { Handlers } from '../../../../lib/grpc/server/serve.ts';

export function subnetsHandlers(allocator: AllocatorContext): Handlers<typeof SubnetsService> {
  return {
    ...poolHandlers(allocator),
    async applySubnet(request, context) {
      const name = requireField('name', request.name);
      const {
        cidrBlock,
        gateway,
        excludeIps,
        provider,
        protocol,
        cooldownMs,
        bindingTimeoutMs,
        maxAddressesPerNamespace,
      } = readSpec(request);
      const spec = {
        cidrBlock,
        gateway,
        provider,
        protocol,
        excludeIps,
        ...(cooldownMs !== undefined && { cooldownMs }),
        ...(bindingTimeoutMs !== undefined && { bindingTimeoutMs }),
        ...(maxAddressesPerNamespace !== undefined && { maxAddressesPerNamespace }),
      };
      const source = readSource(request.source);
      const { answer, head } = await submitCommand(
        allocator,
        context,
        (now) => ({ type: 'ApplySubnet', now, name, spec, ...(source && { source }) }),
        (state, _events, now) => describe(state, name, now),
      );
      return { position: positionMessage(head), subnet: answer };
    },
    async deleteSubnet(request, context) {
      const name = requireField('name', request.name);
      const { head } = await submitCommand(
        allocator,
        context,
        (now) => ({ type: 'RetireSubnet', now, name }),
        () => undefined,
      );
      return { position: positionMessage(head) };
    },
    async getSubnet(request, context) {
      const name = requireField('name', request.name);
      const { answer, head } = await runQuery(allocator, context, (state, now) => describe(state, name, now), request);
      return { position: positionMessage(head), subnet: answer };
    },
    async listSubnets(request, context) {
      const all = (state: State, now: number) =>
        [...state.subnets.keys()].toSorted().map((name) => describe(state, name, now));
      const { answer, head } = await runQuery(allocator, context, all, request);
      return { position: positionMessage(head), subnets: answer };
    },
  };
}

function readSpec({ spec }: api.ApplySubnetRequest): api.SubnetSpec {
  return spec ?? { cidrBlock: '', gateway: '', excludeIps: [], provider: '', protocol: '' };
}

function describe(state: State, name: string, now: number) {
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
