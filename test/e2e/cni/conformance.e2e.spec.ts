/**
 * Tests the plugin's executable against the CNI specification, version by version. Titles name the
 * version and the section. Before 1.0.0 sections have no numbers. A title with "departure" names a
 * deviation from the specification.
 */
import { expect } from 'chai';
import { callPlugin, type CniAnswer, type CniCommand, kubeOvnPlugin, podArgs } from '../../harness/cni.ts';
import { runCommand } from '../../harness/processes/command.ts';
import { childEnvironment } from '../../harness/processes/launch.ts';
import { createNodeNamespace, type Namespace } from '../../harness/network/network-namespaces.ts';
import { expectConsistency } from '../support/consistency.ts';
import { attach } from '../support/attachments.ts';
import { createSandbox, itOnMacvlan, readLink } from '../support/sandbox.ts';
import {
  waitForAddress,
  macvlanConfig,
  makeNetwork,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const versions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'];
const netns = '/var/run/netns/nowhere';

/** The first version that has an operation; versions without entry have all others. */
const since: Readonly<Partial<Record<CniCommand, string>>> = { CHECK: '0.4.0', GC: '1.1.0', STATUS: '1.1.0' };

/** The result of one ADD, in the form of each version. */
function resultIn(version: string): object {
  const routes = [
    { dst: '0.0.0.0/0', gw: '10.15.0.1' },
    { dst: '::/0', gw: 'fd00:15::1' },
  ];
  if (version < '0.3.0')
    return {
      cniVersion: version,
      ip4: { ip: '10.15.0.2/24', gateway: '10.15.0.1', routes: [routes[0]] },
      ip6: { ip: 'fd00:15::2/64', gateway: 'fd00:15::1', routes: [routes[1]] },
      dns: {},
    };
  const family = (number: string) => (version < '1.0.0' ? { version: number } : {});
  return {
    cniVersion: version,
    interfaces: [{ name: '', sandbox: netns }],
    ips: [
      { ...family('4'), address: '10.15.0.2/24', gateway: '10.15.0.1', interface: 0 },
      { ...family('6'), address: 'fd00:15::2/64', gateway: 'fd00:15::1', interface: 0 },
    ],
    routes,
    ...(version < '1.0.0' && { dns: {} }),
  };
}

describe('the CNI specification', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let node: Namespace;
  before(async () => {
    scene = await openTestEnvironment();
    await makeSubnet(scene, 'lan', {
      provider: 'lan.default',
      cidrBlock: '10.15.0.0/24,fd00:15::/64',
      gateway: '10.15.0.1,fd00:15::1',
    });
    await makeNetwork(scene, 'lan');
    await makePod(scene, 'web', 'lan');
    await waitForAddress(scene, 'web', 'lan');
  });
  after(() => scene?.run.end());

  const configOf = (version: string, more: object = {}) => ({
    ...macvlanConfig(scene, 'lan.default'),
    name: 'lan',
    cniVersion: version,
    ...more,
  });

  /**
   * Calls the plugin for eth0 of Pod web, which has the default routes. A value '' in `env` removes
   * the variable.
   */
  const call = (
    command: CniCommand,
    config: object | string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<CniAnswer> =>
    callPlugin({
      command,
      plugin: kubeOvnPlugin,
      config,
      containerId: 'container-of-web',
      netns,
      ifName: 'eth0',
      args: podArgs('default', 'web'),
      env,
    });

  const addedIn = async (version: string): Promise<object> => (await call('ADD', configOf(version))).result as object;

  /** Returns the additional configuration that an operation needs. */
  async function inputOf(command: CniCommand, version: string): Promise<object> {
    if (command === 'GC') {
      const valid = [{ containerID: 'container-of-web', ifname: 'eth0' }];
      return { 'cni.dev/valid-attachments': valid };
    }
    return command === 'CHECK' ? { prevResult: await addedIn(version) } : {};
  }

  function expectError({ code, result }: CniAnswer, version: string, errorCode: number): void {
    expect(code, 'exit status').to.not.equal(0);
    expect(result).to.have.all.keys('cniVersion', 'code', 'msg', 'details');
    expect(result).to.include({ cniVersion: version, code: errorCode });
    expect((result as { msg: string }).msg)
      .to.be.a('string')
      .and.not.equal('');
  }

  const expectQuietSuccess = ({ code, stdout }: CniAnswer): void =>
    void expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '' });

  for (const version of versions) {
    const of = (numbered: string, named: string): string =>
      `CNI ${version}, ${version < '1.0.0' ? `"${named}"` : `Section ${numbered}`}`;

    describe(`version ${version}`, () => {
      it(`${of('5, "ADD Success"', 'Result')}: ADD exits with 0 and prints the result in the version of the request`, async () => {
        const answer = await call('ADD', configOf(version));
        expect(answer.code, answer.stdout).to.equal(0);
        expect(answer.result).to.deep.equal(resultIn(version));
      });

      it(`${of('2, "DEL"', 'Parameters')}: DEL prints nothing, also when repeated, and without CNI_NETNS`, async () => {
        for (const env of [{}, {}, { CNI_NETNS: '' }]) expectQuietSuccess(await call('DEL', configOf(version), env));
      });

      for (const [command, first] of Object.entries(since) as [CniCommand, string][])
        if (version < first)
          it(`${of(`2`, 'Parameters')}: ${command} fails with error 1, "Incompatible CNI version", because this version lacks it`, async () => {
            expectError(await call(command, configOf(version, await inputOf(command, version))), version, 1);
          });
        else
          it(`${of(`2, "${command}"`, 'Parameters')}: ${command} prints nothing on success`, async () => {
            expectQuietSuccess(await call(command, configOf(version, await inputOf(command, version))));
          });

      it(`${of('5, "Error"', 'Result')}: an error exits with a status other than 0, and prints cniVersion, code, msg and details`, async () => {
        const commands = (['ADD', 'DEL', 'CHECK', 'GC', 'STATUS'] as const).filter(
          (command) => version >= (since[command] ?? versions[0] ?? ''),
        );
        for (const command of commands)
          expectError(await call(command, configOf(version, { ipam: { type: 'kube-ovn' } })), version, 7);
      });

      const versionTitle = 'VERSION replies in the version of the request, and lists the supported versions';
      it(
        version < '0.2.0'
          ? `${versionTitle}, although CNI 0.2.0 introduced it`
          : `${of('2, "VERSION"', 'Parameters')}: ${versionTitle}`,
        async () => {
          const none = { CNI_CONTAINERID: '', CNI_NETNS: '', CNI_IFNAME: '', CNI_ARGS: '', CNI_PATH: '' };
          const answer = await call('VERSION', { cniVersion: version }, none);
          expect(answer.code).to.equal(0);
          expect(answer.result).to.deep.equal({ cniVersion: version, supportedVersions: versions });
        },
      );

      itOnMacvlan(`${of('4', 'IP Allocation')}: macvlan as the upper plugin and libcni accept the result`, async () => {
        const name = `v${version.replaceAll('.', '-')}`;
        await makeSubnet(scene, name, { cidrBlock: `10.16.${versions.indexOf(version)}.0/24` });
        await makeNetwork(scene, name, { ...macvlanConfig(scene, `${name}.default`), cniVersion: version });
        await makePod(scene, name, name);
        const address = await waitForAddress(scene, name, name);
        node ??= await createNodeNamespace(scene.run, 'node-1');
        const nic = { node, sandbox: await createSandbox(scene.run, name), pod: name, network: name };
        await attach(scene, nic);
        expect((await readLink(nic.sandbox)).addresses).to.deep.equal([`${address}/24`]);
      });
    });
  }

  describe('version 1.1.0, parameters', () => {
    const messageOf = ({ result }: CniAnswer): string => {
      const { msg, details } = result as { msg: string; details: string };
      return `${msg}; ${details}`;
    };

    for (const [input, env, variable] of [
      ['an unknown CNI_COMMAND', { CNI_COMMAND: 'PUT' }, 'CNI_COMMAND'],
      ['no CNI_CONTAINERID', { CNI_CONTAINERID: '' }, 'CNI_CONTAINERID'],
      ['no CNI_IFNAME', { CNI_IFNAME: '' }, 'CNI_IFNAME'],
      ['no CNI_NETNS', { CNI_NETNS: '' }, 'CNI_NETNS'],
      ...['-c1', '.c1', '_c1', 'c/1', 'c 1', 'c1\n'].map(
        (id) => [`CNI_CONTAINERID ${JSON.stringify(id)}`, { CNI_CONTAINERID: id }, 'CNI_CONTAINERID'] as const,
      ),
      ...['sixteen-letters-', '.', '..', 'a/b', 'a:b', 'a b', 'a\tb'].map(
        (name) => [`CNI_IFNAME ${JSON.stringify(name)}`, { CNI_IFNAME: name }, 'CNI_IFNAME'] as const,
      ),
    ] as readonly (readonly [string, Record<string, string>, string])[])
      it(`CNI 1.1, Section 2, "Parameters": ${input} fails with error 4, which names the variable`, async () => {
        const answer = await call('ADD', configOf('1.1.0'), env);
        expectError(answer, '1.1.0', 4);
        expect(messageOf(answer)).to.contain(variable);
      });

    for (const [variable, values] of [
      ['CNI_IFNAME', ['e', 'fifteen-letters', 'net1.100']],
      ['CNI_CONTAINERID', ['c', '0', 'C_1.x-y']],
    ] as const)
      it(`CNI 1.1, Section 2, "Parameters": ${variable} may be ${values.join(', ')}`, async () => {
        for (const value of values) expectQuietSuccess(await call('DEL', configOf('1.1.0'), { [variable]: value }));
      });

    it('CNI 1.1, Section 2: CNI_PATH is optional except for GC', async () => {
      for (const command of ['ADD', 'CHECK', 'DEL', 'STATUS'] as const) {
        const config = configOf('1.1.0', await inputOf(command, '1.1.0'));
        expect(await call(command, config, { CNI_PATH: '' }), command).to.include({ code: 0 });
      }
      const gc = await call('GC', configOf('1.1.0', await inputOf('GC', '1.1.0')), { CNI_PATH: '' });
      expectError(gc, '1.1.0', 4);
      expect(messageOf(gc)).to.contain('CNI_PATH');
    });

    it('CNI 1.1, Section 2, "Parameters": CNI_ARGS are pairs, and the plugin ignores unknown pairs', async () => {
      const own = 'K8S_POD_NAMESPACE=default;K8S_POD_NAME=web';
      for (const args of [
        own,
        `FOO=BAR;${own};ABC=123`,
        `IgnoreUnknown=1;${own};IP=9.9.9.9`,
        `IgnoreUnknown=0;X=;${own}`,
      ])
        expect((await call('ADD', configOf('1.1.0'), { CNI_ARGS: args })).result).to.deep.equal(resultIn('1.1.0'));
    });

    it('CNI 1.1, Section 2, "Parameters", departure: ADD without the Pod in CNI_ARGS fails with error 7, as in Kube-OVN’s plugin', async () => {
      expectError(await call('ADD', configOf('1.1.0'), { CNI_ARGS: '' }), '1.1.0', 7);
    });

    it('CNI 1.1, Section 1: keys of other plugins are ignored', async () => {
      const otherKeys = {
        ipMasq: true,
        dns: {},
        capabilities: { mac: true },
        runtimeConfig: { mac: '' },
        args: { cni: {} },
        x: [1],
      };
      expect((await call('ADD', configOf('1.1.0', otherKeys))).result).to.deep.equal(resultIn('1.1.0'));
    });

    it('CNI 1.1, Section 3: a network name that is missing or not a valid file name fails with error 7', async () => {
      for (const name of ['../lan', 'a b', '']) expectError(await call('ADD', configOf('1.1.0', { name })), '1.1.0', 7);
    });
  });

  describe('version 1.1.0, errors', () => {
    it('CNI 1.1, Section 5, "Error": an unsupported version fails with error 1, in a supported version', async () => {
      for (const version of ['0.9.0', '1.2.0', '9.0.0']) {
        const answer = await call('ADD', configOf(version));
        expectError(answer, '1.1.0', 1);
        expect(answer.result).to.have.property('details').that.contains(version).and.contains('0.3.1');
      }
    });

    it('CNI 1.1, Section 5, "Error": a configuration that cannot be read fails with error 5', async () => {
      const env = childEnvironment({ CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c1', CNI_NETNS: netns, CNI_IFNAME: 'eth0' });
      const { code, stdout } = await runCommand('sh', ['-c', 'exec "$0" </', kubeOvnPlugin], { env });
      expect(code).to.not.equal(0);
      expect(JSON.parse(stdout)).to.have.property('code', 5);
    });

    it('CNI 1.1, Section 5, "Error": content that cannot be decoded fails with error 6', async () => {
      for (const config of ['', '{', '[]', JSON.stringify(configOf('1.1.0', { ipam: 7 }))])
        expect((await call('ADD', config)).result).to.have.property('code', 6);
      expectError(await call('CHECK', configOf('1.1.0', { prevResult: [] })), '1.1.0', 6);
      expectError(await call('GC', configOf('1.1.0', { 'cni.dev/valid-attachments': {} })), '1.1.0', 6);
    });

    it('CNI 1.1, Section 5, "Error": a failure that a retry can solve has error 11', async () => {
      const ipam = { type: 'kube-ovn', server_socket: '/nonexistent.sock', provider: 'lan.default' };
      expectError(await call('ADD', configOf('1.1.0', { ipam })), '1.1.0', 11);
      expectError(await call('CHECK', configOf('1.1.0', { ipam, prevResult: {} })), '1.1.0', 11);
    });

    it('CNI 1.1, Section 5, "Error": the plugin’s own errors are 100 and above; 3 is never used, because a runtime would then omit DEL', async () => {
      const ovn = { type: 'kube-ovn', server_socket: scene.stack.agents[0].socket, provider: 'lan.default.ovn' };
      expectError(await call('ADD', { cniVersion: '1.1.0', name: 'lan', ...ovn }), '1.1.0', 100);
      const prevResult = await addedIn('1.1.0');
      const unknown = await call('CHECK', configOf('1.1.0', { prevResult }), { CNI_CONTAINERID: 'unknown' });
      expectError(unknown, '1.1.0', 101);
    });
  });

  describe('version 1.1.0, operations', () => {
    it('CNI 1.1, Section 2, "CHECK": a result with addresses of a later plugin is accepted', async () => {
      const { ips, ...rest } = (await addedIn('1.1.0')) as { ips: object[] };
      const prevResult = { ...rest, ips: [{ address: '192.0.2.7/24' }, ...ips] };
      expectQuietSuccess(await call('CHECK', configOf('1.1.0', { prevResult })));
    });

    it('CNI 1.1, Section 2, "CHECK": CHECK without prevResult, which a runtime must include, fails with error 7', async () => {
      expectError(await call('CHECK', configOf('1.1.0')), '1.1.0', 7);
    });

    it('CNI 1.1, Section 2, "STATUS": STATUS fails with error 50 while no ADD can be served; departure: a full subnet is no error', async () => {
      const ipam = { type: 'kube-ovn', server_socket: '/nonexistent.sock', provider: 'lan.default' };
      expectError(await call('STATUS', configOf('1.1.0', { ipam })), '1.1.0', 50);
      const none = { CNI_CONTAINERID: '', CNI_NETNS: '', CNI_IFNAME: '', CNI_ARGS: '' };
      expectQuietSuccess(await call('STATUS', configOf('1.1.0'), none));
    });

    it('CNI 1.1, Section 2, "GC": GC needs no parameters of an attachment, but the list of valid attachments', async () => {
      const none = { CNI_CONTAINERID: '', CNI_NETNS: '', CNI_IFNAME: '', CNI_ARGS: '' };
      expectQuietSuccess(await call('GC', configOf('1.1.0', await inputOf('GC', '1.1.0')), none));
      expectError(await call('GC', configOf('1.1.0'), none), '1.1.0', 7);
    });

    it('CNI 1.1, Section 5, "Delegated plugins", departure: the result has `interfaces` and `interface`, as Kube-OVN’s has', async () => {
      const result = await addedIn('1.1.0');
      expect(result).to.have.nested.property('interfaces[0].sandbox', netns);
      expect(result).to.have.nested.property('ips[0].interface', 0);
    });
  });

  describe('after all operations', () => {
    it('ledger, cluster and etcd agree after all operations', () => expectConsistency(scene.stack));
  });
});
