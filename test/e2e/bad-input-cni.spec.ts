/** A runtime that calls the plugin wrongly is told so, in the CNI's own terms, and nothing comes of the call. */
import { join } from 'node:path';
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { takePicture } from './picture.ts';
import { plugin, type PluginCall } from './plugin.ts';
import { addressOf, macvlanConfig, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

interface Case {
  readonly what: string;
  readonly call: (scene: Scene) => Partial<PluginCall>;
  readonly code: number;
  readonly says: RegExp;
}

/** A variable set to something else; '' takes it away. */
const env = (name: string, value: string) => (): Partial<PluginCall> => ({ env: { [name]: value } });

const cases: readonly Case[] = [
  {
    what: 'an unknown CNI_COMMAND',
    call: env('CNI_COMMAND', 'PUT'),
    code: 4,
    says: /^unknown CNI_COMMAND: PUT$/,
  },
  {
    what: 'no CNI_CONTAINERID',
    call: env('CNI_CONTAINERID', ''),
    code: 4,
    says: /^required env variables \[CNI_CONTAINERID\] missing$/,
  },
  {
    what: 'no CNI_IFNAME',
    call: env('CNI_IFNAME', ''),
    code: 4,
    says: /^required env variables \[CNI_IFNAME\] missing$/,
  },
  {
    what: 'no CNI_NETNS',
    call: env('CNI_NETNS', ''),
    code: 4,
    says: /^required env variables \[CNI_NETNS\] missing$/,
  },
  {
    what: 'the plugin’s own network namespace as CNI_NETNS',
    call: env('CNI_NETNS', '/proc/self/ns/net'),
    code: 8,
    says: /^CNI_NETNS is the plugin's own network namespace: \/proc\/self\/ns\/net$/,
  },
  {
    what: 'no CNI_ARGS',
    call: env('CNI_ARGS', ''),
    code: 7,
    says: /^Invalid Configuration: CNI_ARGS is required$/,
  },
  {
    what: 'CNI_ARGS without the Pod’s name',
    call: env('CNI_ARGS', 'IgnoreUnknown=1;K8S_POD_NAMESPACE=default'),
    code: 7,
    says: /^Invalid Configuration: K8S_POD_NAME is required in CNI_ARGS$/,
  },
  {
    what: 'CNI_ARGS without the Pod’s namespace',
    call: env('CNI_ARGS', 'IgnoreUnknown=1;K8S_POD_NAME=web'),
    code: 7,
    says: /^Invalid Configuration: K8S_POD_NAMESPACE is required in CNI_ARGS$/,
  },
  {
    what: 'a Pod that is not there',
    call: () => ({ pod: 'nobody' }),
    code: 11,
    says: /^RPC failed: request ip return 500 get pod default\/nobody failed pod "nobody" not found$/,
  },
  {
    what: 'bad JSON on stdin',
    call: () => ({ config: '{"cniVersion": "0.3.1",' }),
    code: 6,
    says: /unexpected end of JSON input/,
  },
  {
    what: 'no server_socket',
    call: (scene) => ({ config: { ...macvlanConfig(scene, ''), name: 'lan', ipam: { type: 'kube-ovn' } } }),
    code: 7,
    says: /^Invalid Configuration: server_socket is required in cni\.conf: the path of the node agent's socket$/,
  },
  {
    what: 'a server_socket that is not there',
    call: (scene) => ({ config: withSocket(scene, join(scene.run.folder, 'none.sock')) }),
    code: 11,
    says: /^RPC failed: request ip: dial unix .*none\.sock: connect: no such file or directory: is the node agent running\?$/,
  },
  {
    what: 'a type that makes NICs only on Kube-OVN',
    call: (scene) => {
      const { ipam } = macvlanConfig(scene, 'lan.default.ovn');
      return { config: { cniVersion: '0.3.1', name: 'lan', ...ipam } };
    },
    code: 100,
    says: /^data path not available: type kube-ovn makes NICs only on Kube-OVN; use it as ipam\.type of another plugin/,
  },
];

function withSocket(scene: Scene, server_socket: string): object {
  const config = macvlanConfig(scene, 'lan.default');
  return { ...config, name: 'lan', ipam: { ...config.ipam, server_socket } };
}

describe('bad input: CNI', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.1.0.0/24');
    await makePod(scene, 'web', 'lan');
    await addressOf(scene, 'web', 'lan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  for (const { what, call, code, says } of cases)
    it(`${what} is an error of code ${code} that says so, and binds nothing`, async () => {
      const answer = await plugin(scene, { pod: 'web', network: 'lan', ...call(scene) });
      expect(answer.code, answer.stdout).to.equal(1);
      const error = answer.result as { cniVersion: string; code: number; msg: string; details?: string };
      const said = error.details ? `${error.msg}: ${error.details}` : error.msg;
      expect({ code: error.code, said }).to.have.property('code', code);
      expect(said).to.match(says);
      expect(error.cniVersion).to.match(/^\d+\.\d+\.\d+$/);
      const { allocations } = await takePicture(scene.stack, scene.run.signal);
      expect(allocations.flatMap(({ bindings }) => bindings)).to.deep.equal([]);
    });

  it('and the same Pod gets its NIC when it is called as it should be', async () => {
    const answer = await plugin(scene, { pod: 'web', network: 'lan' });
    expect(answer.result).to.have.nested.property('ips[0].address', '10.1.0.2/24');
  });
});
