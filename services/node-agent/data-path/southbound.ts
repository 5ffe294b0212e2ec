/** Reads OVN's southbound database to find out, after a failed ADD, why a port is not connected. */
import { errorMessage } from '../../../lib/errors.ts';
import { OvsdbClient } from '../../../lib/ovsdb/client.ts';
import { parseEndpoint } from '../../../lib/ovsdb/endpoint.ts';
import { textMap } from '../../../lib/ovsdb/values.ts';
import { timeoutSignal } from '../../../lib/process/abortable.ts';

/** The facts in the southbound database about a port and this node's chassis. */
export interface SouthboundFacts {
  /** Whether the database has the logical port. */
  readonly hasPort: boolean;
  /** `options:requested-chassis` of the port; '' if it is not set. */
  readonly requestedChassis: string;
  /** Name of the chassis that has the port; '' if none has it. */
  readonly chassis: string;
  /** Name of this node's chassis; undefined if it is missing. */
  readonly ownChassis: string | undefined;
}

/** Reads one port and this node's chassis, or returns why the database cannot be read. */
export type ReadSouthbound = (query: SouthboundQuery) => Promise<SouthboundFacts | { readonly unreadable: string }>;

export interface SouthboundQuery {
  /** Endpoints joined by commas, from `external_ids:ovn-remote` of the node. */
  readonly remote: string;
  readonly systemId: string;
  readonly logicalPort: string;
  readonly timeoutMs: number;
}

/** Reads the database without certificates. A database with only `ssl:` endpoints is unreadable. */
export const readSouthbound: ReadSouthbound = async ({ remote, systemId, logicalPort, timeoutMs }) => {
  const endpoints = remote.split(',').filter((endpoint) => isPlainEndpoint(endpoint));
  if (endpoints.length === 0) return { unreadable: `ovn-remote is ${remote || 'not set'}` };
  const controller = new AbortController();
  try {
    const client = new OvsdbClient({
      endpoints,
      database: 'OVN_Southbound',
      needsLeader: false,
      limits: { maxMessageBytes: 4 << 20, requestMs: timeoutMs },
      signal: controller.signal,
    });
    await client.ready(timeoutSignal(timeoutMs));
    const [ports, own] = await client.transact([
      {
        op: 'select',
        table: 'Port_Binding',
        where: [['logical_port', '==', logicalPort]],
        columns: ['chassis', 'options'],
      },
      { op: 'select', table: 'Chassis', where: [['name', '==', systemId]], columns: ['_uuid'] },
    ]);
    const [port] = ports?.rows ?? [];
    const ownUuid = own?.rows?.[0]?.['_uuid'];
    const options = port?.['options'];
    return {
      hasPort: port !== undefined,
      requestedChassis: textMap(options).get('requested-chassis') ?? '',
      chassis: chassisName(port?.['chassis'], ownUuid, systemId),
      ownChassis: ownUuid === undefined ? undefined : systemId,
    };
  } catch (error) {
    return { unreadable: errorMessage(error) };
  } finally {
    controller.abort();
  }
};

function isPlainEndpoint(endpoint: string): boolean {
  try {
    return parseEndpoint(endpoint).kind !== 'ssl';
  } catch {
    return false;
  }
}

const chassisName = (chassis: unknown, ownUuid: unknown, systemId: string): string => {
  if (typeof chassis !== 'string') return '';
  return chassis === ownUuid ? systemId : chassis;
};
