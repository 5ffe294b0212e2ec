/** What a user can ask of `make up`, all by environment variables. */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { type TlsFiles, tlsFromEnvironment } from '../../../lib/tls.ts';

const mostNodes = 64;
const loopback = '127.0.0.1';

export interface Settings {
  /** NODES: how many agents; undefined when not said. */
  readonly nodes: number | undefined;
  /** LISTEN: the address that allocator and agents listen on. */
  readonly listen: string;
  readonly tls: TlsFiles | undefined;
  /** KUBECONFIG, when the user set it: a cluster that is not ours. */
  readonly kubeconfig: string | undefined;
  /** YES=1: the user knows what will be done to that cluster. */
  readonly yes: boolean;
}

/**
 * Reads them from an environment.
 * @param ownKubeconfig the kubeconfig file that `make up` itself writes: a terminal that sourced its env file has it set.
 * @throws Error that says which variable is wrong and what it should be.
 */
export function readSettings(env: NodeJS.ProcessEnv, ownKubeconfig: string): Settings {
  const tls = readTls(env);
  const listen = readListen(env['LISTEN'] ?? '');
  if (!isLoopback(listen) && !tls)
    throw new Error(
      `LISTEN=${listen} is reachable from outside this machine, and without TLS anyone there could take addresses: ` +
        'set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY',
    );
  const kubeconfig = env['KUBECONFIG'] ?? '';
  const foreign = kubeconfig !== '' && resolve(kubeconfig) !== ownKubeconfig;
  const nodes = readNodes(env['NODES'] ?? '');
  return { nodes, listen, tls, kubeconfig: foreign ? kubeconfig : undefined, yes: env['YES'] === '1' };
}

/** Absolute paths: the env file is sourced anywhere. */
function readTls(env: NodeJS.ProcessEnv): TlsFiles | undefined {
  const files = tlsFromEnvironment(env);
  if (!files) return undefined;
  const tls = { ca: resolve(files.ca), cert: resolve(files.cert), key: resolve(files.key) };
  for (const file of [tls.ca, tls.cert, tls.key])
    if (!existsSync(file)) throw new Error(`IPLEDGER_TLS_*: no file ${file}`);
  return tls;
}

function readNodes(text: string): number | undefined {
  if (text === '') return undefined;
  const nodes = Number(text);
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > mostNodes)
    throw new Error(`NODES=${text}: want a number from 1 to ${mostNodes}`);
  return nodes;
}

function readListen(text: string): string {
  const address = text === '' || text === 'localhost' ? loopback : text;
  if (isIP(address) === 0) throw new Error(`LISTEN=${text}: want an address of this machine, as 192.0.2.10 or ::`);
  return address;
}

function isLoopback(address: string): boolean {
  return ipaddr.parse(address).range() === 'loopback';
}

/** "host:port", an IPv6 host in brackets. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
