/** Tests invalid calls of the plugin: a CNI error gives the reason, and nothing is bound. */
import { join } from 'node:path';
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { readSystemSnapshot } from '../support/system-snapshot.ts';
import { callKubeOvnPlugin, type PluginCall } from '../support/plugin-call.ts';
import {
  waitForAddress,
  macvlanConfig,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

interface Case {
  readonly input: string;
  readonly call: (scene: TestEnvironment) => Partial<PluginCall>;
  readonly code: number;
  readonly expected: RegExp;
}

/** Sets one environment variable; '' removes it. */
const env = (name: string, value: string) => (): Partial<PluginCall> => ({ env: { [name]: value } });

const cases: readonly Case[] = [
  {
    input: 'an unknown CNI_COMMAND',
    call: env('CNI_COMMAND', 'PUT'),
    code: 4,
    expected: /^unknown CNI_COMMAND: PUT$/,
  },
  {
    input: 'no CNI_CONTAINERID',
    call: env('CNI_CONTAINERID', ''),
    code: 4,
    expected: /^required env variables \[CNI_CONTAINERID\] missing$/,
  },
  {
    input: 'no CNI_IFNAME',
    call: env('CNI_IFNAME', ''),
    code: 4,
    expected: /^required env variables \[CNI_IFNAME\] missing$/,
  },
  {
    input: 'no CNI_NETNS',
    call: env('CNI_NETNS', ''),
    code: 4,
    expected: /^required env variables \[CNI_NETNS\] missing$/,
  },
  {
    input: 'the plugin’s own network namespace as CNI_NETNS',
    call: env('CNI_NETNS', '/proc/self/ns/net'),
    code: 8,
    expected: /^CNI_NETNS is the plugin's own network namespace: \/proc\/self\/ns\/net$/,
  },
  {
    input: 'no CNI_ARGS',
    call: env('CNI_ARGS', ''),
    code: 7,
    expected: /^Invalid Configuration: CNI_ARGS is required$/,
  },
  {
    input: 'CNI_ARGS without the Pod’s name',
    call: env('CNI_ARGS', 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default'),
    code: 7,
    expected: /^Invalid Configuration: K8S_POD_NAME is required in CNI_ARGS$/,
  },
  {
    input: 'CNI_ARGS without the Pod’s namespace',
    call: env('CNI_ARGS', 'IgnoreUnknown=1;K8S_POD_NAME=web'),
    code: 7,
    expected: /^Invalid Configuration: K8S_POD_NAMESPACE is required in CNI_ARGS$/,
  },
  {
    input: 'a Pod that does not exist',
    call: () => ({ pod: 'absent' }),
    code: 11,
    expected: /^RPC failed: request ip return 500 get pod default\/absent failed pod "absent" not found$/,
  },
  {
    input: 'invalid JSON on stdin',
    call: () => ({ config: '{"cniVersion": "0.3.1",' }),
    code: 6,
    expected: /unexpected end of JSON input/,
  },
  {
    input: 'no server_socket',
    call: (scene) => ({ config: { ...macvlanConfig(scene, ''), name: 'lan', ipam: { type: 'kube-ovn' } } }),
    code: 7,
    expected: /^Invalid Configuration: server_socket is required in cni\.conf: the path of the node agent's socket$/,
  },
  {
    input: 'a server_socket that does not exist',
    call: (scene) => ({
      config: withSocket(scene, join(scene.run.folder, 'none.sock')),
      env: { IPLEDGER_ADD_WAIT_SECONDS: '0' },
    }),
    code: 11,
    expected:
      /^RPC failed: request ip: dial unix .*none\.sock: connect: no such file or directory: is the node agent running\?$/,
  },
  {
    input: 'a type whose NICs need OVN, on an agent without it',
    call: (scene) => {
      const { ipam } = macvlanConfig(scene, 'lan.default.ovn');
      return { config: { cniVersion: '0.3.1', name: 'lan', ...ipam } };
    },
    code: 100,
    expected: /^no data path for type kube-ovn: the agent of node node-1 runs without --ovs-db\. Set it to/,
  },
];

function withSocket(scene: TestEnvironment, server_socket: string): object {
  const config = macvlanConfig(scene, 'lan.default');
  return { ...config, name: 'lan', ipam: { ...config.ipam, server_socket } };
}

describe('bad input: CNI', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.1.0.0/24');
    await makePod(scene, 'web', 'lan');
    await waitForAddress(scene, 'web', 'lan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  for (const { input, call, code, expected } of cases)
    it(`a call with ${input} fails with error ${code} and the reason, and binds nothing`, async () => {
      const answer = await callKubeOvnPlugin(scene, { pod: 'web', network: 'lan', ...call(scene) });
      expect(answer.code, answer.stdout).to.equal(1);
      const error = answer.result as { cniVersion: string; code: number; msg: string; details?: string };
      const message = error.details ? `${error.msg}: ${error.details}` : error.msg;
      expect({ code: error.code, message }).to.have.property('code', code);
      expect(message).to.match(expected);
      expect(error.cniVersion).to.match(/^\d+\.\d+\.\d+$/);
      const { allocations } = await readSystemSnapshot(scene.stack, scene.run.signal);
      expect(allocations.flatMap(({ bindings }) => bindings)).to.deep.equal([]);
    });

  it('a valid ADD of the same Pod returns its address', async () => {
    const answer = await callKubeOvnPlugin(scene, { pod: 'web', network: 'lan' });
    expect(answer.result).to.have.nested.property('ips[0].address', '10.1.0.2/24');
  });
});
