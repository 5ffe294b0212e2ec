/**
 * The server and credentials of a cluster: from the ServiceAccount of this Pod, or from a
 * kubeconfig with certificates or a token.
 *
 * @kubernetes/client-node reads all other kubeconfigs: those with exec plugins, auth providers,
 * proxies or several files. It takes 90 MB and a second, so it is loaded only for these (decision
 * 28).
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import { delimiter, dirname, join, resolve } from 'node:path';
import { asRecord, asText, type UntypedJson, asRecords } from '../untyped-json.ts';

/** The methods of @kubernetes/client-node's `KubeConfig` that a client needs. */
export interface ClusterAccess {
  /** Connections are direct if there is no `proxyUrl`. */
  getCurrentCluster(): { readonly server: string; readonly proxyUrl?: string | undefined } | null;
  /** Sets TLS options and headers with current credentials. @throws Error for unreadable files */
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}

/** The cluster that a program connects to, and the user that it connects as. */
export interface ClusterSelection {
  /** A kubeconfig file. Default: KUBECONFIG, else ~/.kube/config, else the Pod's own cluster. */
  readonly kubeconfig?: string | undefined;
  /** Default: the current context of the kubeconfig. */
  readonly context?: string | undefined;
}

/** Ports that @kubernetes/client-node connects to in plaintext. */
const plaintextPorts = new Set(['80', '8080', '8001']);
const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Reads the access; undefined if it is invalid or needs @kubernetes/client-node. */
export async function readPlainAccess(
  { kubeconfig, context }: ClusterSelection = {},
  env: NodeJS.ProcessEnv = process.env,
  account: string = serviceAccount,
): Promise<ClusterAccess | undefined> {
  const file = kubeconfig ?? kubeconfigOf(env);
  if (file !== undefined) return file.includes(delimiter) ? undefined : readKubeconfig(file, context);
  const [host, port] = [env['KUBERNETES_SERVICE_HOST'] ?? '', env['KUBERNETES_SERVICE_PORT'] ?? ''];
  const [token, ca] = [join(account, 'token'), join(account, 'ca.crt')];
  if (host === '' || context !== undefined || plaintextPorts.has(port) || !existsSync(token)) return undefined;
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return accessTo(server, async () => bearer((await readFile(token, 'utf8')).trim(), { ca: await readFile(ca) }));
}

function kubeconfigOf({ KUBECONFIG, HOME }: NodeJS.ProcessEnv): string | undefined {
  if (KUBECONFIG !== undefined && KUBECONFIG !== '') return KUBECONFIG;
  const home = HOME === undefined || HOME === '' ? undefined : join(HOME, '.kube', 'config');
  return home !== undefined && existsSync(home) ? home : undefined;
}

function accessTo(server: string, read: () => Promise<RequestOptions>): ClusterAccess {
  return {
    getCurrentCluster: () => ({ server }),
    applyToHTTPSOptions: async (options) => void Object.assign(options, await read()),
  };
}

const bearer = (token: string, options: RequestOptions): RequestOptions => ({
  ...options,
  headers: { Authorization: `Bearer ${token}` },
});

/** Fields that are read here. A kubeconfig with any other field needs the package. */
const clusterFields = new Set([
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
  'tls-server-name',
  'extensions',
]);
const userFields = new Set([
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'extensions',
]);

async function readKubeconfig(file: string, context: string | undefined): Promise<ClusterAccess | undefined> {
  const config = await parseFile(file);
  const { cluster: clusterName, user: userName } = entryOf(
    config['contexts'],
    context ?? config['current-context'],
    'context',
  );
  const cluster = entryOf(config['clusters'], clusterName, 'cluster');
  const user = entryOf(config['users'], userName, 'user');
  const server = asText(cluster['server']);
  const isPlain =
    Object.keys(cluster).every((field) => clusterFields.has(field)) &&
    Object.keys(user).every((field) => userFields.has(field));
  if (!isPlain || !server.startsWith('https://') || Object.keys(user).length === 0) return undefined;
  return accessTo(server.replace(/\/$/, ''), async () => {
    const bytesOf = (from: UntypedJson, field: string) => readBytes(from, field, dirname(file));
    const ca = await bytesOf(cluster, 'certificate-authority');
    const cert = await bytesOf(user, 'client-certificate');
    const key = await bytesOf(user, 'client-key');
    const serverName = asText(cluster['tls-server-name']);
    const options: RequestOptions = {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(serverName !== '' && { servername: serverName }),
      ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
    };
    const token = asText(user['token']);
    return token === '' ? options : bearer(token, options);
  });
}

/** Parses a file. Returns {} if that fails: the package then reports the error. */
async function parseFile(file: string): Promise<UntypedJson> {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.trimStart().startsWith('{')) return asRecord(JSON.parse(text));
    const { parseYaml } = await import('./kubeconfig-yaml.ts');
    return asRecord(parseYaml(text));
  } catch {
    return {};
  }
}

/** The named entry in a list of the kubeconfig; {} if it is missing. */
function entryOf(list: unknown, name: unknown, field: string): UntypedJson {
  const entries = asRecords(list);
  return asRecord(entries.find((entry) => entry['name'] === name)?.[field]);
}

/** The bytes of a field: from the file that it names, or from the base64 text beside it. */
async function readBytes(from: UntypedJson, field: string, folder: string): Promise<Buffer | undefined> {
  const [path, data] = [asText(from[field]), asText(from[`${field}-data`])];
  if (path !== '') return readFile(resolve(folder, path));
  return data === '' ? undefined : Buffer.from(data, 'base64');
}
