/** What a user can ask of `make up` and `make certs`, all by environment variables. */
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { parseIdentity } from '../../../lib/identity.ts';
import type { Bearers } from '../certificates.ts';
import { cacheFolder } from '../paths.ts';

const mostNodes = 64;
const loopback = '127.0.0.1';

export interface Settings {
  /** NODES: how many agents; undefined when not said. */
  readonly nodes: number | undefined;
  /** LISTEN: the address that allocator and agents listen on. */
  readonly listen: string;
  /** TLS: whether all speak TLS, by certificates of the folder CERTS; undefined when not said. */
  readonly tls: boolean | undefined;
  /** CERTS: where certificates are, or are made (default `.cache/certs`). */
  readonly certificates: string;
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
  const tls = readSwitch('TLS', env['TLS'] ?? '');
  const listen = readListen(env['LISTEN'] ?? '');
  if (!isLoopback(listen) && !tls)
    throw new Error(
      `LISTEN=${listen} is reachable from outside this machine, and without TLS anyone there could take addresses: say TLS=1, too`,
    );
  const kubeconfig = env['KUBECONFIG'] ?? '';
  const foreign = kubeconfig !== '' && resolve(kubeconfig) !== ownKubeconfig;
  const nodes = readNodes(env['NODES'] ?? '');
  const certificates = readCertificateFolder(env);
  return { nodes, listen, tls, certificates, kubeconfig: foreign ? kubeconfig : undefined, yes: env['YES'] === '1' };
}

/** CERTS, an absolute path: the env file is sourced anywhere. */
export function readCertificateFolder(env: NodeJS.ProcessEnv): string {
  const named = env['CERTS'] ?? '';
  return named === '' ? join(cacheFolder, 'certs') : resolve(named);
}

/**
 * For whom `make certs` makes certificates: NODES (a number, or names), ALLOCATORS and OPERATORS (names).
 * @throws Error for a name that an identity can't have.
 */
export function readBearers(env: NodeJS.ProcessEnv): Bearers {
  const nodes = env['NODES'] ?? '';
  return {
    allocators: readNames('ALLOCATORS', env['ALLOCATORS'] ?? '', ['allocator']),
    nodes: /^\d*$/.test(nodes) ? nodeNames(readNodes(nodes) ?? 1) : readNames('NODES', nodes, []),
    operators: readNames('OPERATORS', env['OPERATORS'] ?? '', [userInfo().username]),
  };
}

/** The nodes that `make up` makes: node-1, node-2, … */
export const nodeNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `node-${index + 1}`);

function readNames(variable: string, text: string, usual: readonly string[]): readonly string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  for (const name of names)
    if (!parseIdentity(`ipledger://agent/${name}`))
      throw new Error(`${variable}: "${name}" is no name: want letters, digits, dots, dashes and underscores`);
  return names.length > 0 ? names : usual;
}

function readSwitch(variable: string, text: string): boolean | undefined {
  if (text === '') return undefined;
  if (text !== '0' && text !== '1') throw new Error(`${variable}=${text}: want 1 or 0`);
  return text === '1';
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
