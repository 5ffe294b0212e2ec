/** The search, by address, MAC, Pod, node, owner, Subnet and container id. */
import { ViewsService } from '../../../proto/generated/ipledger.ts';
import type { SearchHit, SearchReply } from '../api/search.ts';
import { HttpError } from '../http/http-error.ts';
import type { View } from '../http/routes.ts';
import { type LedgerReads, positionOf } from '../ledger/ledger-reads.ts';
import { ipledger } from '../rows/command.ts';

const minLength = 2;

export function search(reads: LedgerReads): View {
  return async ({ query, signal }) => {
    const text = query.text('q').trim();
    if (text.length < minLength)
      throw new HttpError(400, 'INVALID_REQUEST', `q is too short: write ${minLength} characters or more`);
    const reply = await reads.readModel.call(ViewsService.search, { text }, signal);
    const items = reply.hits.map((hit): SearchHit => {
      const { kind, subnet, address, namespace, name, ownerKind, seq } = hit;
      return {
        ...hit,
        ...titleOf(hit),
        kind: kind as SearchHit['kind'],
        subnet,
        address,
        namespace,
        name,
        ownerKind,
        seq,
      };
    });
    const [first, second] = items;
    const body: SearchReply = {
      position: positionOf(reply),
      command: first && !second ? commandOf(first) : '',
      items,
    };
    return { body };
  };
}

type Named = Pick<SearchHit, 'subnet' | 'address' | 'namespace' | 'name' | 'ownerKind'> & { readonly kind: string };

function titleOf({ kind, subnet, address, namespace, name, ownerKind }: Named): Pick<SearchHit, 'title' | 'detail'> {
  const used = [address, subnet === '' ? '' : `subnet ${subnet}`].filter((part) => part !== '').join(' of ');
  if (kind === 'address') return { title: address, detail: `subnet ${subnet}` };
  if (kind === 'pod') return { title: `${namespace}/${name}`, detail: '' };
  if (kind === 'owner') return { title: `${namespace}/${ownerKind}/${name}`, detail: '' };
  if (kind === 'mac' || kind === 'container') return { title: name, detail: used };
  return { title: name, detail: '' };
}

function commandOf({ kind, subnet, address, namespace, name, ownerKind }: SearchHit): string {
  if (kind === 'subnet') return ipledger(['subnets', name]);
  if (kind === 'pod') return ipledger(['why', `${namespace}/${name}`]);
  if (kind === 'node') return ipledger(['history', 'node', name]);
  if (kind === 'owner') return ipledger(['history', 'owner', `${namespace}/${ownerKind}/${name}`]);
  return ipledger(['history', address], { subnet });
}
