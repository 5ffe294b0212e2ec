/** Rejects serving gRPC without TLS to other machines, unless the operator accepts the risk. */
import { BlockList, isIP } from 'node:net';
import { Option } from 'commander';
import type { Logger } from '../../process/log.ts';
import { type Tls, tlsFromEnvironment } from '../../tls/credentials.ts';

export interface ListenSecurity {
  /** --listen: "host:port". */
  readonly listen: string;
  readonly tls: Tls;
  /** --insecure, or IPLEDGER_INSECURE=1. */
  readonly insecure: boolean;
}

/** The flag --insecure. `isInsecure` reads the variable: commander takes any value as true. */
export const insecureOption = (): Option =>
  new Option(
    '--insecure',
    'serve without TLS beyond this machine, where every client may do everything (env: IPLEDGER_INSECURE=1)',
  );

/**
 * Returns the TLS settings of a server, from its environment and options.
 * @throws Error for an address beyond loopback without TLS, or for unusable certificates
 */
export function serverTls(options: ServedOptions, env: NodeJS.ProcessEnv, log: Logger): Tls {
  const tls = tlsFromEnvironment(env, log);
  refuseInsecureListen({ listen: options.listen, tls, insecure: isInsecure(options.insecure, env) });
  return tls;
}

interface ServedOptions {
  readonly listen: string;
  readonly insecure?: boolean;
}

/** Whether the flag or the variable accepts the risk. */
export const isInsecure = (flag: boolean | undefined, env: NodeJS.ProcessEnv): boolean =>
  flag === true || env['IPLEDGER_INSECURE'] === '1';

/** @throws Error for an address beyond loopback without TLS, unless `insecure` */
export function refuseInsecureListen({ listen, tls, insecure }: ListenSecurity): void {
  if (tls || insecure || isLoopback(listen)) return;
  throw new Error(
    `--listen ${listen}: other machines may reach this address, and TLS is off, so every client there could use the complete API. Set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY, or listen on 127.0.0.1. To serve without TLS, start with --insecure.`,
  );
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether only this machine can reach "host:port". A name except localhost may be any address. */
export function isLoopback(listen: string): boolean {
  const host = listen.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  if (host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
