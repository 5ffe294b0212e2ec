/** The plugins of Kube-OVN's releases before v1.16, which know the flat answer alone, against this agent. */
import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { IpledgerError } from '../../lib/errors.ts';
import { isCidr } from '../../lib/ip.ts';
import type { Allocation } from '../../proto/ipledger.ts';
import { type Api, createApi } from './api.ts';
import { allocation } from './fakes.ts';
import { publish } from './socket.ts';
import { answerAdd, type CniRequest } from './wire.ts';

/** What the plugins send: each line has the fields of the one before, and those that later releases added. */
const requests = {
  'the Pod and its sandbox': '{"container_id":"c1","net_ns":"/proc/7/ns/net","pod_name":"p","pod_namespace":"default"}',
  'the interface and the provider':
    '{"pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/proc/7/ns/net","if_name":"net1","provider":"macvlan.default"}',
  'the plugin’s type, routes and a device':
    '{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/proc/7/ns/net","if_name":"net1","provider":"macvlan.default","routes":[{"dst":"19.10.0.0/16","gw":"172.17.0.254"}],"deviceID":""}',
  'DNS and vhost-user sockets':
    '{"cni_type":"macvlan","pod_name":"p","pod_namespace":"default","container_id":"c1","net_ns":"/proc/7/ns/net","if_name":"net1","provider":"macvlan.default","routes":null,"dns":{},"vf_driver":"","deviceID":"","vhost_user_socket_volume_name":"","vhost_user_socket_name":"","vhost_user_socket_consumption":""}',
};

interface OldAnswer {
  readonly protocol: string;
  readonly addresses: readonly { readonly address: string; readonly cidr: string; readonly gateway: string }[];
  readonly error: string;
}

/** Reads as those plugins do: fields of fixed types, one family by its name, two joined by commas. `ips` is unknown to it. */
function readFlat(body: string): OldAnswer {
  const answer = JSON.parse(body) as Record<string, unknown>;
  for (const field of ['protocol', 'address', 'mac_address', 'cidr', 'gateway', 'nicname', 'error'])
    expect(answer[field], field).to.be.a('string');
  expect(answer['mtu']).to.be.a('number');
  expect(answer['dns']).to.be.an('object');
  if (answer['routes'] !== null) expect(answer['routes']).to.be.an('array');
  const parts = (field: string): string[] => (answer[field] as string).split(',');
  const [protocol, gateways] = [answer['protocol'] as string, parts('gateway')];
  const families = { IPv4: 1, IPv6: 1, Dual: 2 }[protocol] ?? 0;
  expect(parts('address')).to.have.length(Math.max(families, 1));
  const addresses = parts('address')
    .slice(0, families)
    .map((address, index) => ({ address, cidr: parts('cidr')[index] ?? '', gateway: gateways[index] ?? '' }));
  for (const { address, cidr } of addresses) {
    expect(isIP(address), address).to.be.greaterThan(0);
    expect(isCidr(cidr), cidr).to.equal(true);
  }
  return { protocol, addresses, error: answer['error'] as string };
}

const dual: Allocation = {
  ...allocation,
  addresses: [...allocation.addresses, { address: 'fd00::b', cidr: 'fd00::/64', gateway: 'fd00::1' }],
};

describe('the plugins of Kube-OVN before v1.16', () => {
  let folder: string;
  let api: Api;
  let has: Allocation;
  let refuses: IpledgerError | undefined;
  const seen: CniRequest[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-old-'));
    seen.length = 0;
    has = allocation;
    refuses = undefined;
    api = createApi(
      (asked) => {
        if (!('request' in asked)) throw new Error('such a plugin asks nothing else');
        seen.push(asked.request);
        if (refuses) throw refuses;
        return Promise.resolve(asked.verb === 'add' ? answerAdd(asked.request, has) : '');
      },
      pino({ level: 'silent' }),
    );
    await publish(api.server, join(folder, 's'));
  });

  afterEach(async () => {
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** As their HTTP client writes it: no Accept, and a connection that is kept. */
  async function send(verb: 'add' | 'del', body: string): Promise<{ status: number; body: string }> {
    const client = connect(join(folder, 's')).setEncoding('utf8');
    client.write(
      `POST /api/v1/${verb} HTTP/1.1\r\nHost: dummy\r\nUser-Agent: GoRequest\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n${body}`,
    );
    const [answer] = (await once(client, 'data')) as [string];
    client.destroy();
    const [head = '', text = ''] = answer.split('\r\n\r\n');
    expect(head.toLowerCase()).to.not.contain('content-encoding');
    return { status: Number(head.split(' ')[1]), body: text };
  }

  for (const [what, request] of Object.entries(requests)) {
    it(`send ${what}, and get an answer to ADD and DEL that they understand`, async () => {
      const { status, body } = await send('add', request);
      expect(status).to.equal(200);
      const [address, cidr] = ['172.17.0.11', '172.17.0.0/16'];
      const gateway = request.includes('if_name') ? '' : '172.17.0.1';
      expect(readFlat(body)).to.deep.equal({ protocol: 'IPv4', addresses: [{ address, cidr, gateway }], error: '' });
      expect(await send('del', request)).to.deep.equal({ status: 204, body: '' });
      expect(seen).to.have.length(2);
      const known = request.includes('if_name')
        ? { interface: 'net1', provider: 'macvlan.default' }
        : { interface: 'eth0', provider: 'ovn' };
      const pod = { podName: 'p', podNamespace: 'default', containerId: 'c1', netns: '/proc/7/ns/net', podUid: '' };
      for (const each of seen) expect(each).to.include({ ...known, ...pod });
    });
  }

  it('get both families, joined by commas', async () => {
    has = { ...dual, defaultRoute: true };
    const { protocol, addresses } = readFlat((await send('add', requests['the interface and the provider'])).body);
    expect(protocol).to.equal('Dual');
    expect(addresses).to.deep.equal(dual.addresses);
  });

  it('get IPv6 alone as such', async () => {
    has = { ...dual, addresses: dual.addresses.slice(1) };
    const { protocol, addresses } = readFlat((await send('add', requests['DNS and vhost-user sockets'])).body);
    expect(protocol).to.equal('IPv6');
    expect(addresses).to.deep.equal([{ address: 'fd00::b', cidr: 'fd00::/64', gateway: '' }]);
  });

  it('get routes as dst and gw', async () => {
    const { body } = await send('add', requests['the plugin’s type, routes and a device']);
    expect(JSON.parse(body)).to.have.deep.property('routes', [{ dst: '19.10.0.0/16', gw: '172.17.0.254' }]);
  });

  it('get the sentence of a refusal', async () => {
    refuses = new IpledgerError('NOT_ALLOCATED', 'no address allocated to pod default/p');
    const { status, body } = await send('add', requests['the interface and the provider']);
    expect(status).to.equal(500);
    expect(readFlat(body)).to.deep.equal({
      protocol: '',
      addresses: [],
      error: 'no address allocated to pod default/p',
    });
  });
});
