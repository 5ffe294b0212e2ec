/** The databases of OVN and Open vSwitch: options that name them, and one complete read of each. */
import { type Command, Option } from 'commander';
import { errorMessage } from '../../lib/errors.ts';
import { OvsdbClient, type ClientOptions } from '../../lib/ovsdb/client.ts';
import type { OvsdbTls } from '../../lib/ovsdb/endpoint.ts';
import type { Replica } from '../../lib/ovsdb/replica.ts';
import { CliError } from '../cli-error.ts';
import { type NodeSwitch, nodeSwitchColumns, parseNodeSwitch } from './node-switch.ts';
import { type Northbound, northboundColumns, parseNorthbound } from './northbound.ts';

export interface NorthboundOptions {
  /** The northbound database; absent or empty, OVN is not compared. */
  readonly ovnNb?: string;
}

export interface NodeSwitchOptions {
  /** The database of Open vSwitch; absent or empty, the switch of the node is not compared. */
  readonly ovsDb?: string;
}

const readTimeoutMs = 10_000;

/** Adds `--ovn-nb`. */
export const addNorthboundOption = (verb: Command): Command =>
  verb.addOption(
    new Option(
      '--ovn-nb <endpoints>',
      'northbound database of OVN, which is compared, too: unix:/path, tcp:host:port or ssl:host:port, joined by commas',
    ).env('IPLEDGER_OVN_NB'),
  );

/** Adds `--ovs-db`. */
export const addNodeSwitchOption = (verb: Command): Command =>
  verb.addOption(
    new Option(
      '--ovs-db <endpoint>',
      'database of Open vSwitch on this node, whose ports are compared, too: unix:/run/openvswitch/db.sock',
    ).env('IPLEDGER_OVS_DB'),
  );

/**
 * Reads the northbound database. undefined: no option names it.
 * @param ledger id of the ledger whose rows are ours; undefined: of any ledger
 * @throws CliError if it cannot be read
 */
export async function readNorthbound(
  { ovnNb }: NorthboundOptions,
  ledger: string | undefined,
  signal: AbortSignal,
): Promise<Northbound | undefined> {
  if (!ovnNb) return undefined;
  const tls = tlsOf(process.env);
  const endpoints = ovnNb.split(',').flatMap((endpoint) => endpoint.trim() || []);
  const source = { endpoints, database: 'OVN_Northbound', columns: northboundColumns, ...(tls && { tls }) };
  return await readOnce('--ovn-nb', source, signal, (replica) =>
    parseNorthbound(replica.rows('Logical_Switch'), replica.rows('Logical_Switch_Port'), ledger),
  );
}

/** Reads the switch that an option names; undefined without it. @throws CliError */
export async function readNodeSwitch(
  { ovsDb }: NodeSwitchOptions,
  signal: AbortSignal,
): Promise<NodeSwitch | undefined> {
  if (!ovsDb) return undefined;
  const source = { endpoints: [ovsDb], database: 'Open_vSwitch', columns: nodeSwitchColumns };
  return await readOnce('--ovs-db', source, signal, (replica) =>
    parseNodeSwitch(replica.rows('Open_vSwitch').values(), replica.rows('Interface').values()),
  );
}

/** Connects to one of the endpoints, and tries each once. */
async function readOnce<T>(
  option: string,
  source: Pick<ClientOptions, 'endpoints' | 'database' | 'columns' | 'tls'>,
  signal: AbortSignal,
  parse: (replica: Replica) => T,
): Promise<T> {
  const ended = new AbortController();
  const failures: string[] = [];
  try {
    const client = new OvsdbClient({
      ...source,
      // Members of a cluster that follow have the same rows, a little later
      needsLeader: false,
      signal: AbortSignal.any([signal, ended.signal]),
      onStatus: (status) => {
        if (status.isConnected || failures.push(status.error.message) < source.endpoints.length) return;
        ended.abort();
      },
    });
    await client.ready(AbortSignal.timeout(readTimeoutMs));
    return parse(client.replica);
  } catch (error) {
    signal.throwIfAborted();
    const reason = failures.join('; ') || errorMessage(error);
    throw new CliError('notCompared', `${option}: ${source.database} cannot be read: ${reason}`, { cause: error });
  } finally {
    ended.abort();
  }
}

/** The certificate files of `ssl:` endpoints. undefined: none is set. */
function tlsOf(env: NodeJS.ProcessEnv): OvsdbTls | undefined {
  const [ca, cert, key] = [env['IPLEDGER_OVN_CA'], env['IPLEDGER_OVN_CERT'], env['IPLEDGER_OVN_KEY']];
  return ca && cert && key ? { ca, cert, key } : undefined;
}
