import { expect } from 'chai';
import type { IpledgerError } from '../../errors.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type { Method } from '../../../proto/codec.ts';
import {
  type FieldLimit,
  maxRequestBytes,
  maxRequestBytesOf,
  refuseOversized,
  requestLimits,
} from './request-limits.ts';
import { permissions } from './permissions.ts';

/**
 * A request with one field that is filled up to its limit, or beyond it by one; and how an error
 * names the field.
 */
interface Probe {
  readonly field: string;
  readonly request: object;
}

const protoName = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** One probe for each text and each list of a limit. @param more how far beyond the limit */
function* probes(limit: FieldLimit, more: number): Generator<{ field: string; value: unknown }> {
  if (typeof limit === 'number') yield { field: '', value: 'x'.repeat(limit + more) };
  else if (Array.isArray(limit)) {
    const [most, each] = limit as [number, FieldLimit];
    yield { field: '', value: Array.from({ length: most + more }, () => (typeof each === 'number' ? '' : {})) };
    for (const { field, value } of probes(each, more)) yield { field: `[0]${field}`, value: [value] };
  } else
    for (const [name, inner] of Object.entries(limit))
      for (const { field, value } of probes(inner, more))
        yield { field: `.${protoName(name)}${field}`, value: { [name]: value } };
}

/** A value whose texts and lists are at their limits. */
function largest(limit: FieldLimit): unknown {
  if (typeof limit === 'number') return 'x'.repeat(limit);
  if (Array.isArray(limit)) return Array.from({ length: limit[0] as number }, () => largest(limit[1] as FieldLimit));
  return Object.fromEntries(Object.entries(limit).map(([name, inner]) => [name, largest(inner)]));
}

const methods = [IpamService, SubnetsService, LedgerService].flatMap(
  (service) => Object.values(service) as Method<object, object>[],
);

const probesOf = (path: string, more: number): Probe[] =>
  [...probes(requestLimits.get(path) ?? {}, more)].map(({ field, value }) => ({
    field: field.slice(1),
    request: value as object,
  }));

function refusalOf(path: string, request: unknown): IpledgerError | undefined {
  try {
    refuseOversized(path, request);
    return undefined;
  } catch (error) {
    return error as IpledgerError;
  }
}

describe('Request limits', () => {
  it('Request limits cover every RPC of the API', () => {
    const paths = [...permissions.keys()].filter((path) => path.startsWith('/ipledger.'));
    expect([...requestLimits.keys()]).to.have.members(paths);
  });

  for (const path of requestLimits.keys())
    it(`Request limits reject each text and list of ${path} over its limit, and name the field`, () => {
      for (const { field, request } of probesOf(path, 1)) {
        const refusal = refusalOf(path, request);
        expect(refusal?.code, field).to.equal('INVALID_REQUEST');
        expect(refusal?.message, field).to.match(/^\S+ has \d+ (bytes|entries), and \d+ is the limit/);
        expect(refusal?.message.split(' ')[0]).to.equal(field);
      }
      for (const { field, request } of probesOf(path, 0)) expect(refusalOf(path, request), field).to.equal(undefined);
    });

  it('Request limits permit a request with all texts and lists at their limits, up to 1 MiB', () => {
    for (const { path, requestSerialize } of methods) {
      const { length } = requestSerialize(largest(requestLimits.get(path) ?? {}) as object);
      const max = maxRequestBytesOf(path, 'operator');
      expect(max, path)
        .to.be.at.least(Math.min(length, maxRequestBytes))
        .and.at.most(2 * length + 2_048);
    }
  });

  it('Request limits permit an agent 4 KiB, or less if the fields allow less', () => {
    const { wait, unbind } = IpamService;
    expect(maxRequestBytesOf(unbind.path, 'operator')).to.be.greaterThan(4_096);
    expect(maxRequestBytesOf(unbind.path, 'agent')).to.equal(4_096);
    expect(maxRequestBytesOf(wait.path, 'agent')).to.equal(maxRequestBytesOf(wait.path, 'operator'));
  });

  it('Request limits count bytes, not characters', () => {
    const refusal = refusalOf('/ipledger.v1.Ipam/Bind', { containerId: 'ä'.repeat(65) });
    expect(refusal?.message).to.equal('container_id has 130 bytes, and 128 is the limit: shorten it');
  });
});
