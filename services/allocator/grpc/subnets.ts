/** The Subnets service. */
import { type SubnetsService } from '../../../proto/ipledger.ts';
import type * as api from '../../../proto/ipledger.ts';
import { usageOf } from '../domain/questions.ts';
import { Refused } from '../domain/refusal.ts';
import type { State } from '../domain/state.ts';
import { type Allocator, command, question } from './allocator.ts';
import { positionOf, subnetMessage } from './messages.ts';
import { poolsHandlers } from './pools.ts';
import { required } from '../../../lib/serving/read.ts';
import type { Handlers } from '../../../lib/serving/serve.ts';

/** Everything of Subnets. */
export function subnetsHandlers(allocator: Allocator): Handlers<typeof SubnetsService> {
  return {
    ...poolsHandlers(allocator),
    async applySubnet(request, context) {
      const name = required('name', request.name);
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
      const source = request.source;
      const { answer, head } = await command(
        allocator,
        context,
        (now) => ({ type: 'ApplySubnet', now, name, spec, ...(source && { source }) }),
        (state) => describe(state, name),
      );
      return { position: positionOf(head), subnet: answer };
    },
    async deleteSubnet(request, context) {
      const name = required('name', request.name);
      const { head } = await command(
        allocator,
        context,
        (now) => ({ type: 'RetireSubnet', now, name }),
        () => undefined,
      );
      return { position: positionOf(head) };
    },
    async getSubnet(request, context) {
      const name = required('name', request.name);
      const { answer, head } = await question(allocator, context, (state) => describe(state, name), request);
      return { position: positionOf(head), subnet: answer };
    },
    async listSubnets(request, context) {
      const all = (state: State) => [...state.subnets.keys()].toSorted().map((name) => describe(state, name));
      const { answer, head } = await question(allocator, context, all, request);
      return { position: positionOf(head), subnets: answer };
    },
  };
}

function readSpec({ spec }: api.ApplySubnetRequest): api.SubnetSpec {
  return spec ?? { cidrBlock: '', gateway: '', excludeIps: [], provider: '', protocol: '' };
}

function describe(state: State, name: string) {
  const configured = state.subnets.get(name);
  if (!configured) throw new Refused('SUBNET_UNKNOWN', `no subnet ${name} is configured`);
  const fenced = [...state.fenced].flatMap((claim) =>
    claim.startsWith(`${name}/`) ? claim.slice(name.length + 1) : [],
  );
  return { ...subnetMessage(configured, usageOf(configured)), fenced: fenced.toSorted() };
}
