/** Tests the process with an allocator, a Kubernetes API and OVN's northbound database. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { documentedCommands } from '../../test/docs/documented-commands.ts';
import { root } from '../../test/harness/paths.ts';
import { startLedger } from '../../test/harness/stack.ts';
import { borrowCluster } from '../../test/harness/kubernetes/shared-cluster.ts';
import type { Cluster } from '../../test/harness/kubernetes/cluster.ts';
import { type OvnCentral, startOvnCentral } from '../../test/harness/ovn/ovn-central.ts';
import { probeOvn, runOvn } from '../../test/harness/ovn/ovn-programs.ts';
import { startOvsdbServer } from '../../test/harness/ovn/ovsdb-server.ts';
import { certificateFolder, makeCertificates } from '../../test/harness/certificates/certificates.ts';
import { openRun, type Run } from '../../test/harness/run.ts';
import { type AllocatorServer, startOvnProjector, type WatcherServer } from '../../test/harness/services.ts';
import { eventually } from '../../test/e2e/support/eventually.ts';
import { connectLedger, type LedgerCalls } from './testing/ledger-calls.ts';

/** Gives the projector the permissions of its role, and no others. */
async function accountOf(cluster: Cluster): Promise<{ readonly kubeconfig: string }> {
  await cluster.apply(join(root, 'deploy/rbac.yaml'));
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
  const kubeconfig = await cluster.kubeconfigFor('system:serviceaccount:kube-system:ipledger-ovn-projector', groups);
  return { kubeconfig };
}

describe('ovn-projector', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let allocator: AllocatorServer;
  let central: OvnCentral;
  let ledger: LedgerCalls;
  let projector: WatcherServer;
  /** The kubeconfig of the projector. */
  let account: { readonly kubeconfig: string };

  before(async function () {
    const ovn = probeOvn();
    if (!ovn.isAvailable) throw new Error(ovn.reason);
    run = openRun();
    [cluster, [, allocator], central] = await Promise.all([
      borrowCluster(run, { controllers: false }),
      startLedger(run),
      startOvnCentral(run),
    ]);
    ledger = connectLedger(allocator);
    run.onEnd(() => ledger.close());
    const { northbound } = central;
    account = await accountOf(cluster);
    projector = await startOvnProjector(run, { allocator, cluster: account, northbound });
  });
  after(() => run?.end());

  /** Reads columns of a row, as ovn-nbctl prints them; "" if the row is missing. */
  const read = async (table: string, name: string, columns: string): Promise<string> =>
    (await central.nbctl(['--bare', `--columns=${columns}`, 'find', table, `name="${name}"`])).trim();
  const portOf = (pod: string): string => `${pod}.default.attachnet.default.ovn`;
  const readPort = (pod: string, columns = 'addresses'): Promise<string> =>
    read('Logical_Switch_Port', portOf(pod), columns);
  const metric = async (series: string, { health } = projector): Promise<number> => {
    const page = await (await fetch(`http://${health}/metrics`)).text();
    return Number(
      page
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length + 1),
    );
  };
  /** Reads all rows of the tables that OVN's tools show, without columns that OVN changes. */
  const dump = async (): Promise<string> =>
    (
      await Promise.all(
        ['Logical_Switch', 'Logical_Switch_Port', 'Logical_Router', 'Logical_Router_Port'].map((table) =>
          central.nbctl(['--format=csv', '--columns=_uuid,name,external_ids', 'list', table]),
        ),
      )
    )
      .map((table) => table.trim().split('\n').sort().join('\n'))
      .join('\n\n');

  it('ovn-projector writes the switch, the router and the gateway of a Subnet', async () => {
    await ledger.applySubnet('lan', { cidrBlock: '10.8.0.0/24,fd00:8::/64' });
    await eventually(async () => expect(await read('Logical_Switch', 'lan', 'name')).to.equal('lan'));
    expect(await read('Logical_Router_Port', 'ovn-cluster-lan', 'networks')).to.equal('10.8.0.1/24 fd00:8::1/64');
    expect(await read('Logical_Switch_Port', 'lan-ovn-cluster', 'options')).to.equal('router-port=ovn-cluster-lan');
  });

  it('ovn-projector writes a port for an allocation, follows its bindings, and deletes it after the release', async () => {
    const { mac, addresses } = await ledger.allocate('first', { node: 'node-1' });
    const texts = addresses.map(({ address }) => address).join(' ');
    await eventually(async () => expect(await readPort('first')).to.equal(`${mac} ${texts}`));
    expect(await readPort('first', 'options')).to.equal('requested-chassis=node-1');
    expect(await readPort('first', 'external_ids'))
      .to.contain('pod=first')
      .and.contain('vendor=ipledger');
    await ledger.bind('first', 'node-2');
    await eventually(async () => expect(await readPort('first', 'options')).to.equal('requested-chassis=node-2'));
    await ledger.release('first');
    await eventually(async () => expect(await readPort('first')).to.equal(''));
  });

  it('ovn-projector gives guests their address by DHCP and the prefix by router advertisements, where the Subnet enables them', async () => {
    const { mac, addresses } = await ledger.allocate('guest');
    const spec = {
      cidrBlock: '10.8.0.0/24,fd00:8::/64',
      mtu: 1_400,
      ...(parse(documentedCommands('docs/ovn.md', 'dhcp')) as { readonly spec: object }).spec,
    };
    const subnet = (changed: object): string =>
      JSON.stringify({
        apiVersion: 'kubeovn.io/v1',
        kind: 'Subnet',
        metadata: { name: 'lan' },
        spec: { ...spec, ...changed },
      });
    await cluster.apply(subnet({}));
    const discover = `inport=="${portOf('guest')}" && eth.src==${mac} && eth.dst==ff:ff:ff:ff:ff:ff && ip4.src==0.0.0.0 && ip4.dst==255.255.255.255 && ip.ttl==64 && udp.src==68 && udp.dst==67`;
    const solicit = `inport=="${portOf('guest')}" && eth.src==${mac} && eth.dst==33:33:00:01:00:02 && ip6.src==fe80::1 && ip6.dst==ff02::1:2 && ip.ttl==64 && udp.src==546 && udp.dst==547`;
    const trace = (flow: string): Promise<string> =>
      runOvn(run.folder, 'ovn-trace', [`--db=${central.southbound.unix}`, 'lan', flow]);
    const [v4 = '', v6 = ''] = addresses.map(({ address }) => address);
    await eventually(async () => {
      const offer = await trace(discover);
      expect(offer).to.contain(`put_dhcp_opts(offerip = ${v4}`);
      expect(offer).to.contain('router = 10.8.0.1').and.contain('lease_time = 3600').and.contain('mtu = 1400');
      expect(offer).to.contain('dns_server = {10.8.0.3, 10.8.0.4}').and.contain('domain_name = "lan.example"');
      expect(await trace(solicit)).to.contain(`put_dhcpv6_opts(ia_addr = ${v6}`);
    });
    expect(await read('Logical_Router_Port', 'ovn-cluster-lan', 'ipv6_ra_configs')).to.contain(
      'address_mode=dhcpv6_stateful',
    );
    await cluster.apply(subnet({ enableDHCP: false, enableIPv6RA: false }));
    await eventually(async () => expect(await trace(discover)).not.to.contain('put_dhcp_opts'));
    expect(await central.nbctl(['--bare', '--columns=_uuid', 'list', 'DHCP_Options'])).to.equal('');
    expect(await read('Logical_Router_Port', 'ovn-cluster-lan', 'ipv6_ra_configs')).to.equal('');
    await ledger.release('guest');
  });

  it('ovn-projector connects an underlay Subnet when its Vlan and its ProviderNetwork exist', async () => {
    await ledger.applySubnet('wire', { cidrBlock: '10.9.0.0/24' });
    const object = (kind: string, name: string, spec: object): string =>
      JSON.stringify({ apiVersion: 'kubeovn.io/v1', kind, metadata: { name }, spec });
    await cluster.apply(object('Subnet', 'wire', { cidrBlock: '10.9.0.0/24', vlan: 'vlan7', natOutgoing: true }));
    await eventually(async () => expect(await metric('ipledger_ovn_unserved{kind="vlan-missing"}')).to.equal(1));
    expect(await metric('ipledger_ovn_unserved{kind="unsupported"}')).to.equal(1);
    expect(await read('Logical_Router_Port', 'ovn-cluster-wire', 'name')).to.equal('');
    await cluster.apply(object('Vlan', 'vlan7', { id: 7, provider: 'physnet' }));
    await eventually(async () =>
      expect(await metric('ipledger_ovn_unserved{kind="provider-network-missing"}')).to.equal(1),
    );
    await cluster.apply(object('ProviderNetwork', 'physnet', { defaultInterface: 'eth1' }));
    await eventually(async () =>
      expect(await read('Logical_Switch_Port', 'localnet.wire', 'type,tag,options,addresses')).to.equal(
        'localnet\n7\nnetwork_name=physnet\nunknown',
      ),
    );
  });

  it('ovn-projector secures a port while its Pod requests it', async () => {
    const pod = (annotation: string): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'secured',
          namespace: 'default',
          annotations: { 'attachnet.default.ovn.kubernetes.io/port_security': annotation },
        },
        spec: { containers: [{ name: 'c', image: 'none' }] },
      });
    await cluster.apply(pod('true'));
    const uid = await cluster.kubectl(['get', 'pod', 'secured', '-o', 'jsonpath={.metadata.uid}']);
    const { mac, addresses } = await ledger.allocate('secured', { uid });
    const own = [mac, ...addresses.map(({ address }) => address)].join(' ');
    await eventually(async () => expect(await readPort('secured', 'port_security')).to.equal(own));
    await cluster.apply(pod('false'));
    await eventually(async () => expect(await readPort('secured', 'port_security')).to.equal(''));
  });

  it('ovn-projector restores its rows when another program deletes them, and keeps the rows of others', async () => {
    await ledger.allocate('restored');
    await eventually(async () => expect(await readPort('restored')).not.to.equal(''));
    await central.nbctl(['ls-add', 'foreign', '--', 'lsp-add', 'foreign', 'foreign-port']);
    await central.nbctl(['lsp-del', portOf('restored')]);
    await eventually(async () => expect(await readPort('restored')).not.to.equal(''));
    expect(await read('Logical_Switch_Port', 'foreign-port', 'name')).to.equal('foreign-port');
  });

  it('ovn-projector reports a conflict with a row of another owner, and takes the name when that row is deleted', async () => {
    await central.nbctl(['lsp-add', 'foreign', portOf('taken')]);
    await ledger.allocate('taken');
    await eventually(async () => expect(await metric('ipledger_ovn_conflicts')).to.equal(1));
    expect(await readPort('taken', 'addresses')).to.equal('');
    await ledger.allocate('beside');
    await eventually(async () => expect(await readPort('beside')).not.to.equal(''));
    await central.nbctl(['lsp-del', portOf('taken')]);
    await eventually(async () => expect(await readPort('taken', 'addresses')).not.to.equal(''));
    await eventually(async () => expect(await metric('ipledger_ovn_conflicts')).to.equal(0));
  });

  it('ovn-projector writes all rows again after the database was wiped, and nothing more at the next start', async () => {
    const rows = async (): Promise<string[]> =>
      (await dump())
        .replaceAll(/[0-9a-f-]{36}/g, 'uuid')
        .split('\n')
        .sort();
    await central.nbctl(['--if-exists', 'ls-del', 'foreign']);
    const before = await rows();
    await central.northbound.kill();
    await central.northbound.recreate();
    await central.northbound.start();
    await eventually(async () => expect(await rows()).to.deep.equal(before));
    await central.nbctl(['ls-add', 'foreign', '--', 'lsp-add', 'foreign', 'foreign-port']);
    const complete = await dump();
    await projector.stop();
    await projector.start();
    expect(await metric('ipledger_ovn_transactions_total{outcome="committed"}')).to.equal(1);
    expect(await dump()).to.equal(complete);
  });

  it('ovn-projector exports the number of ports, the number of ports that are down, and its connection', async () => {
    const ports = (state: string): Promise<number> => metric(`ipledger_ovn_ports{state="${state}"}`);
    await eventually(async () => expect(await ports('present')).to.equal(await ports('desired')));
    expect(await ports('desired')).to.be.greaterThan(0);
    // Excludes ports without a container, which are not expected to be up.
    expect(await ports('down')).to.be.below(await ports('present'));
    expect(await metric('ipledger_ovn_northbound_connected')).to.equal(1);
  });

  it('A suspended ovn-projector is refused when it continues after another one has taken over', async () => {
    const { northbound } = central;
    const second = await startOvnProjector(run, { allocator, cluster: account, northbound, name: 'ovn-projector-2' });
    expect(await metric('ipledger_ovn_projector_active', second)).to.equal(0);
    projector.freeze();
    await ledger.allocate('late');
    await eventually(async () => expect(await readPort('late')).not.to.equal(''));
    expect(await metric('ipledger_ovn_projector_active', second)).to.equal(1);
    const present = await dump();
    projector.resume();
    await eventually(async () => expect(await metric('ipledger_ovn_projector_active')).to.equal(0));
    expect(await dump()).to.equal(present);
    await ledger.release('late');
    await eventually(async () => expect(await readPort('late')).to.equal(''));
    expect(readFileSync(projector.log, 'utf8')).to.match(/another projector is active|lease: lost/);
  });
});

describe('ovn-projector with TLS', function () {
  this.timeout(120_000);
  let run: Run;
  after(() => run?.end());

  it('ovn-projector follows an allocator and writes to a northbound database that both require certificates', async () => {
    run = openRun();
    const folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: ['allocator'], nodes: [], operators: ['test'] });
    const certificates = certificateFolder(folder);
    const [cluster, [, allocator], northbound] = await Promise.all([
      borrowCluster(run, { controllers: false }),
      startLedger(run, certificates),
      startOvsdbServer(run, { name: 'nb', schema: 'northbound', tls: certificates.allocator('allocator') }),
    ]);
    const tls = certificates.ovnProjector;
    const account = await accountOf(cluster);
    await startOvnProjector(run, { allocator, cluster: account, northbound, tls, ovnTls: tls });
    const ledger = connectLedger(allocator, certificates.operator('test'));
    run.onEnd(() => ledger.close());
    await ledger.applySubnet('lan', { cidrBlock: '10.8.0.0/24' });
    await ledger.allocate('first');
    const find = ['find', 'Logical_Switch_Port', 'name="first.default.attachnet.default.ovn"'];
    await eventually(async () =>
      expect(
        await runOvn(run.folder, 'ovn-nbctl', [
          `--db=${northbound.unix}`,
          '--bare',
          '--columns=type,addresses',
          ...find,
        ]),
      ).to.contain('10.8.0.2'),
    );
  });
});
