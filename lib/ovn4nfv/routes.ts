/** Parses the annotation `ovnNetworkRoutes`: a JSON array of `{"dst": "<cidr>", "gw": "<address>", "dev": "<interface>"}`. Pure. */
import { tooMany, truncate } from '../kubernetes/limit-messages.ts';
import { asRecord, asText } from '../kubernetes/untyped-json.ts';
import { isAddress, isCidr } from '../net/ip.ts';
import { type Annotated, ovnRoutesAnnotation } from './annotations.ts';
import type { Ovn4nfvInterface } from './interface.ts';
import { ovn4nfvLimits } from './limits.ts';
import { failed, type Parsed, parsed } from './parsed.ts';

export interface Ovn4nfvRoute {
  readonly dst: string;
  readonly gw: string;
  /** The interface of the request that has the route. */
  readonly dev: string;
}

/** All three fields of a route are needed. Its interface must be one of the request. */
export function parseOvn4nfvRoutes(
  { annotations }: Annotated,
  interfaces: readonly Ovn4nfvInterface[],
): Parsed<Ovn4nfvRoute[]> {
  const text = annotations[ovnRoutesAnnotation]?.trim() ?? '';
  if (text === '') return parsed([]);
  const routes = parseRoutes(text, new Set(interfaces.map(({ interface: name }) => name)));
  return routes.ok ? routes : failed(`annotation ${ovnRoutesAnnotation}: ${routes.problem}`);
}

function parseRoutes(text: string, names: ReadonlySet<string>): Parsed<Ovn4nfvRoute[]> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return failed(`not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!Array.isArray(json)) return failed('must be a JSON array of {"dst": "…", "gw": "…", "dev": "…"}');
  const many = tooMany('it', json, { most: ovn4nfvLimits.routes, unit: 'routes' });
  if (many !== undefined) return failed(many);
  const routes = json.map((each) => {
    const { dst, gw, dev } = asRecord(each);
    return { dst: asText(dst), gw: asText(gw), dev: asText(dev) };
  });
  const problem = routes.map((route, index) => routeProblem(route, index, names)).find((each) => each !== undefined);
  return problem === undefined ? parsed(routes) : failed(problem);
}

function routeProblem({ dst, gw, dev }: Ovn4nfvRoute, index: number, names: ReadonlySet<string>): string | undefined {
  const quoted = (text: string): string => truncate(JSON.stringify(text));
  if (!isCidr(dst)) return `dst ${quoted(dst)} of route ${index} is not a CIDR`;
  if (!isAddress(gw)) return `gw ${quoted(gw)} of route ${index} is not an address`;
  if (dev === '' || !names.has(dev)) return `dev ${quoted(dev)} of route ${index} is not an interface of the request`;
  return undefined;
}
