/**
 * The names of the keys in etcd. All keys are ASCII, so `etcdctl get --prefix` lists them in order.
 *
 *   /ipledger/v1/head                 ledger id, epoch, seq, hash, time; and the written claims while a replay has not ended
 *   /ipledger/v1/log/<seq>            one event; 16 digits, so that the order of the keys is the order of the events
 *   /ipledger/v1/addr/<subnet>/<ip>   the claim of this address
 *   /ipledger/v1/dropped/<subnet>     the last events that dropped claims of this subnet
 *   /ipledger/v1/ended/<n>            a chunk of the Pods that have ended; 16 digits
 *   /ipledger/v1/subnet/<name>        the normalised spec in force
 *   /ipledger/v1/pool/<name>          the same for a pool
 *   /ipledger/v1/segment/<from>       a range of the log that is in the archive
 *   /ipledger/v1/floor                the first event that is not sealed; no key while no event is sealed
 *   /ipledger/v1/frozen               how a restore of etcd was noticed; while this key exists, no address is allocated
 *   /ipledger/v1/writer               the active writer, on a lease
 *   /ipledger/v1/member/<replica>     a live replica and the event versions that it reads, on a lease
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import type { ClaimName } from '../../domain/state/claim.ts';

export const keyPrefix = '/ipledger/v1/';

export const headKey = `${keyPrefix}head`;
export const writerKey = `${keyPrefix}writer`;
export const memberPrefix = `${keyPrefix}member/`;
export const logPrefix = `${keyPrefix}log/`;
export const addressPrefix = `${keyPrefix}addr/`;
export const droppedPrefix = `${keyPrefix}dropped/`;
export const endedPrefix = `${keyPrefix}ended/`;
export const subnetPrefix = `${keyPrefix}subnet/`;
export const poolPrefix = `${keyPrefix}pool/`;
export const segmentPrefix = `${keyPrefix}segment/`;
export const logStartKey = `${keyPrefix}floor`;
export const freezeKey = `${keyPrefix}frozen`;

/** Pads to 16 digits, so that the keys sort like the numbers. */
const digits = (number: number): string => String(number).padStart(16, '0');

export const logKey = (seq: Seq): string => logPrefix + digits(seq);

/** The event number in a log key; undefined for any other key. */
export function seqOfKey(key: string): Seq | undefined {
  const number = key.startsWith(logPrefix) ? key.slice(logPrefix.length) : '';
  return /^\d{16}$/.test(number) ? Number(number) : undefined;
}

export const segmentKey = (from: Seq): string => segmentPrefix + digits(from);
export const addressKey = ({ subnet, address }: ClaimName): string => `${addressPrefix}${subnet}/${address}`;
export const memberKey = (replica: string): string => memberPrefix + replica;
export const droppedKey = (subnet: string): string => droppedPrefix + subnet;
export const endedKey = (chunk: number): string => endedPrefix + digits(chunk);
export const subnetKey = (name: string): string => subnetPrefix + name;
export const poolKey = (name: string): string => poolPrefix + name;

/** The first key after all keys that begin with `prefix`. */
export const prefixEnd = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** The name of the claim in an address key. @throws IpledgerError LEDGER_DAMAGED for other keys */
export function claimNameOf(key: string): ClaimName {
  const slash = key.indexOf('/', addressPrefix.length);
  const subnet = key.slice(addressPrefix.length, slash);
  const address = key.slice(slash + 1);
  // Without a slash, the address is the whole key, which has slashes
  if (!key.startsWith(addressPrefix) || subnet === '' || address === '' || address.includes('/'))
    throw new IpledgerError(
      'LEDGER_DAMAGED',
      `${key.slice(0, 500)} is not an address key. Another program wrote it: delete the key`,
    );
  return { subnet, address };
}
