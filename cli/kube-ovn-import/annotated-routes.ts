/** Parses the annotation `routes` of a Pod. Pure. */
import { isAddress, isCidr } from '../../lib/net/ip.ts';
import { goFields } from '../../lib/go-fields.ts';
import { asRecord, asText, tryParseJson } from '../../lib/kubernetes/untyped-json.ts';
import type { Route } from '../../proto/generated/ipledger.ts';

/** As many as the ledger accepts. */
const maxRoutes = 64;

const routeFields = goFields(['dst', 'gw']);

/** Undefined for a value that the ledger would refuse. */
export function parseRoutes(value: string): Route[] | undefined {
  const all = value === '' ? [] : tryParseJson(value);
  if (!Array.isArray(all) || all.length > maxRoutes) return undefined;
  const routes = all
    .map((each) => asRecord(routeFields(each)))
    .map(({ dst, gw }) => ({ dst: asText(dst), gw: asText(gw) }));
  return routes.every(isRoute) ? routes : undefined;
}

const isRoute = ({ dst, gw }: Route): boolean =>
  dst + gw !== '' && (dst === '' || isCidr(dst)) && (gw === '' || isAddress(gw));
