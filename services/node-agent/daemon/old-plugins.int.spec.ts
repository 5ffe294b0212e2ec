/**
 * Tests the agent with requests of Kube-OVN's plugins before v1.16, which read only the flat form
 * of a response.
 */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { isCidr } from '../../../lib/net/ip.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { type DaemonServer, createDaemonServer } from './daemon-server.ts';
import { allocation } from '../testing/fakes.ts';
import { publishSocket } from './unix-socket.ts';
import type { CniRequest } from './plugin-request.ts';
import { formatAddResponse } from './cni-response.ts';

/**
 * Requests of four releases. Each has the fields of the release before, and those that it added.
 */
const requests = {
  'the Pod and its sandbox': '{"container_id":"c1","net_ns":"/proc/7/ns/net","pod_name":"p","pod_namespace":"default"}',
  'the interface and the provider':
    '{"pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/proc/7/ns/net","if_name":"net1","provider":"macvlan.default"}',
  'the plugin’s type, routes and a device':
    '{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/proc/7/ns/net","if_name":"net1","provider":"macvlan.default","routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}],"deviceID":""}',
  'DNS and vhost-user sockets':
    '{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/proc/7/ns/net","if_name":"net1","provider":"macvlan.default","routes":null,"dns":{},"vf_driver":"","deviceID":"","vhost_user_socket_volume_name":"","vhost_user_socket_name":"","vhost_user_socket_consumption":""}',
};

interface FlatResponse {
  readonly protocol: string;
  readonly addresses: readonly { readonly address: string; readonly cidr: string; readonly gateway: string }[];
  readonly error: string;
}

/**
 * Reads a response as those plugins do: fields of fixed types, two families joined with commas, no
 * `ips`.
 */
function readFlat(body: string): FlatResponse {
  const response = JSON.parse(body) as Record<string, unknown>;
  for (const field of ['protocol', 'address', 'mac_address', 'cidr', 'gateway', 'nicname', 'error'])
    expect(response[field], field).to.be.a('string');
  expect(response['mtu']).to.be.a('number');
  expect(response['dns']).to.be.an('object');
  if (response['routes'] !== null) expect(response['routes']).to.be.an('array');
  const parts = (field: string): string[] => (response[field] as string).split(',');
  const [protocol, gateways] = [response['protocol'] as string, parts('gateway')];
  const families = { IPv4: 1, IPv6: 1, Dual: 2 }[protocol] ?? 0;
  expect(parts('address')).to.have.length(Math.max(families, 1));
  const addresses = parts('address')
    .slice(0, families)
    .map((address, index) => ({ address, cidr: parts('cidr')[index] ?? '', gateway: gateways[index] ?? '' }));
  for (const { address, cidr } of addresses) {
    expect(isIP(address), address).to.be.greaterThan(0);
    expect(isCidr(cidr), cidr).to.equal(true);
  }
  return { protocol, addresses, error: response['error'] as string };
}

const dual: Allocation = {
  ...allocation,
  addresses: [...allocation.addresses, { address: 'fd00::b', cidr: 'fd00::/64', gateway: 'fd00::1' }],
};

describe('Kube-OVN plugin before v1.16', () => {
  let folder: string;
  let daemon: DaemonServer;
  let allocated: Allocation;
  let error: IpledgerError | undefined;
  const received: CniRequest[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-old-'));
    received.length = 0;
    allocated = allocation;
    error = undefined;
    daemon = createDaemonServer(
      (pluginRequest) => {
        if (!('request' in pluginRequest)) throw new Error('such a plugin sends only ADD and DEL');
        received.push(pluginRequest.request);
        if (error) throw error;
        return Promise.resolve(pluginRequest.verb === 'add' ? formatAddResponse(pluginRequest.request, allocated) : '');
      },
      pino({ level: 'silent' }),
    );
    await publishSocket(daemon.server, join(folder, 's'));
  });

  afterEach(async () => {
    await daemon.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends a request as those plugins do: without Accept, on a connection that is kept alive. */
  async function send(verb: 'add' | 'del', body: string): Promise<{ status: number; body: string }> {
    const client = connect(join(folder, 's')).setEncoding('utf8');
    client.write(
      `POST /api/v1/${verb} HTTP/1.1\r\nHost: dummy\r\nUser-Agent: GoRequest\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n${body}`,
    );
    const [response] = (await once(client, 'data')) as [string];
    client.destroy();
    const [head = '', text = ''] = response.split('\r\n\r\n');
    expect(head.toLowerCase()).to.not.contain('content-encoding');
    return { status: Number(head.split(' ')[1]), body: text };
  }

  for (const [what, request] of Object.entries(requests)) {
    it(`Kube-OVN plugin before v1.16 accepts the responses to ADD and DEL when it sends ${what}`, async () => {
      const { status, body } = await send('add', request);
      expect(status).to.equal(200);
      const [address, cidr] = ['172.17.0.11', '172.17.0.0/16'];
      const gateway = request.includes('if_name') ? '' : '172.17.0.1';
      expect(readFlat(body)).to.deep.equal({ protocol: 'IPv4', addresses: [{ address, cidr, gateway }], error: '' });
      expect(await send('del', request)).to.deep.equal({ status: 204, body: '' });
      expect(received).to.have.length(2);
      const network = request.includes('if_name')
        ? { interface: 'net1', provider: 'macvlan.default' }
        : { interface: 'eth0', provider: 'ovn' };
      const pod = { podName: 'p', podNamespace: 'default', containerId: 'c1', netns: '/proc/7/ns/net', podUid: '' };
      for (const each of received) expect(each).to.include({ ...network, ...pod });
    });
  }

  it('Kube-OVN plugin before v1.16 gets two families joined with commas', async () => {
    allocated = { ...dual, defaultRoute: true };
    const { protocol, addresses } = readFlat((await send('add', requests['the interface and the provider'])).body);
    expect(protocol).to.equal('Dual');
    expect(addresses).to.deep.equal(dual.addresses);
  });

  it('Kube-OVN plugin before v1.16 gets an IPv6 address alone', async () => {
    allocated = { ...dual, addresses: dual.addresses.slice(1) };
    const { protocol, addresses } = readFlat((await send('add', requests['DNS and vhost-user sockets'])).body);
    expect(protocol).to.equal('IPv6');
    expect(addresses).to.deep.equal([{ address: 'fd00::b', cidr: 'fd00::/64', gateway: '' }]);
  });

  it('Kube-OVN plugin before v1.16 gets routes as dst and gw', async () => {
    const { body } = await send('add', requests['the plugin’s type, routes and a device']);
    expect(JSON.parse(body)).to.have.deep.property('routes', [{ dst: '19.10.0.0/16', gw: '172.17.0.254' }]);
  });

  it('Kube-OVN plugin before v1.16 gets the error message', async () => {
    error = new IpledgerError('NOT_ALLOCATED', 'no address allocated to pod default/p');
    const { status, body } = await send('add', requests['the interface and the provider']);
    expect(status).to.equal(500);
    expect(readFlat(body)).to.deep.equal({
      protocol: '',
      addresses: [],
      error: 'no address allocated to pod default/p',
    });
  });
});
