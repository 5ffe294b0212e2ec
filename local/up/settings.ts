/** Settings of `make up` and `make certs` from environment variables. */
import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { parseIdentity } from '../../lib/tls/identity.ts';
import type { CertificateSubjects } from '../../test/harness/certificates/certificates.ts';
import { cacheFolder } from '../../test/harness/paths.ts';

const maxNodes = 64;
const loopback = '127.0.0.1';

export interface Settings {
  /** NODES: number of agents. undefined if not set. */
  readonly nodes: number | undefined;
  /** LISTEN: the listen address of allocator and agents. */
  readonly listen: string;
  /** TLS: whether all programs use TLS with the certificates of CERTS. undefined if not set. */
  readonly tls: boolean | undefined;
  /** CERTS: folder of the certificates (default `.cache/certs`). */
  readonly certificates: string;
  /** KUBECONFIG of a user's cluster. */
  readonly kubeconfig: string | undefined;
  /** YES=1: the user agrees to the changes in that cluster. */
  readonly yes: boolean;
}

/**
 * Reads the settings from an environment.
 * @param ownKubeconfig the kubeconfig file of `make up`. A terminal that sourced the env file has
 * it in KUBECONFIG.
 * @throws Error with the invalid variable and the expected value.
 */
export function readSettings(env: NodeJS.ProcessEnv, ownKubeconfig: string): Settings {
  const tls = readSwitch('TLS', env['TLS'] ?? '');
  const listen = readListen(env['LISTEN'] ?? '');
  if (!isLoopback(listen) && !tls)
    throw new Error(
      `LISTEN=${listen} is reachable from outside this machine, and without TLS any client there can allocate addresses: set TLS=1 also`,
    );
  const kubeconfig = env['KUBECONFIG'] ?? '';
  const foreign = kubeconfig !== '' && resolve(kubeconfig) !== ownKubeconfig;
  const nodes = readNodes(env['NODES'] ?? '');
  const certificates = readCertificateFolder(env);
  return { nodes, listen, tls, certificates, kubeconfig: foreign ? kubeconfig : undefined, yes: env['YES'] === '1' };
}

/** CERTS as an absolute path, because the env file is sourced in any folder. */
export function readCertificateFolder(env: NodeJS.ProcessEnv): string {
  const named = env['CERTS'] ?? '';
  return named === '' ? join(cacheFolder, 'certs') : resolve(named);
}

/**
 * The subjects of `make certs`: NODES (a number or names), ALLOCATORS and OPERATORS (names).
 * @throws Error for a name that is not valid in an identity.
 */
export function readCertificateSubjects(env: NodeJS.ProcessEnv): CertificateSubjects {
  const nodes = env['NODES'] ?? '';
  return {
    allocators: readNames('ALLOCATORS', env['ALLOCATORS'] ?? '', ['allocator']),
    nodes: /^\d*$/.test(nodes) ? nodeNames(readNodes(nodes) ?? 1) : readNames('NODES', nodes, []),
    operators: readNames('OPERATORS', env['OPERATORS'] ?? '', [userInfo().username]),
  };
}

/** The nodes of `make up`: node-1, node-2, … */
export const nodeNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `node-${index + 1}`);

function readNames(variable: string, text: string, defaults: readonly string[]): readonly string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  for (const name of names)
    if (!parseIdentity(`ipledger://agent/${name}`))
      throw new Error(`${variable}: "${name}" is no valid name: use letters, digits, dots, dashes and underscores`);
  return names.length > 0 ? names : defaults;
}

function readSwitch(variable: string, text: string): boolean | undefined {
  if (text === '') return undefined;
  if (text !== '0' && text !== '1') throw new Error(`${variable}=${text}: set 1 or 0`);
  return text === '1';
}

function readNodes(text: string): number | undefined {
  if (text === '') return undefined;
  const nodes = Number(text);
  if (!Number.isInteger(nodes) || nodes < 1 || nodes > maxNodes)
    throw new Error(`NODES=${text}: set a number from 1 to ${maxNodes}`);
  return nodes;
}

function readListen(text: string): string {
  const address = text === '' || text === 'localhost' ? loopback : text;
  if (isIP(address) === 0)
    throw new Error(`LISTEN=${text}: set an address of this machine, for example 192.0.2.10 or ::`);
  return address;
}

function isLoopback(address: string): boolean {
  return ipaddr.parse(address).range() === 'loopback';
}

/** Returns "host:port", with an IPv6 host in brackets. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
