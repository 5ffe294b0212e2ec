import { expect } from 'chai';
import { readNetworks } from './read-networks.ts';

const read = (config: string, besideKubeOvn = false) =>
  readNetworks({
    besideKubeOvn,
    list: () => Promise.resolve([{ metadata: { namespace: 'default', name: 'lan' }, spec: { config } }]),
  });
const lan = { key: 'default/lan', provider: 'lan.default', configuredProvider: 'lan.default', socket: '/run/a.sock' };

describe('The networks of an installation', () => {
  it('The networks of an installation have the provider and the socket of the plugin that gets the address, with field names in any case', async () => {
    const ipam = { type: 'kube-ovn', provider: 'lan.default', server_socket: '/run/a.sock' };
    const inAnyCase = { Type: 'kube-ovn', PROVIDER: 'lan.default', Server_Socket: '/run/a.sock' };
    for (const config of [
      { type: 'macvlan', ipam },
      { plugins: [{ type: 'macvlan', ipam }, { type: 'tuning' }] },
      { Type: 'macvlan', IPAM: inAnyCase },
      { plugins: [{ TYPE: 'macvlan', Ipam: inAnyCase }] },
    ])
      expect(await read(JSON.stringify(config)), JSON.stringify(config)).to.deep.equal([lan]);
    const own = { Type: 'kube-ovn', Provider: 'lan.default.ovn', server_socket: '/run/a.sock' };
    expect(await read(JSON.stringify(own))).to.deep.equal([
      { ...lan, provider: 'lan.default.ovn', configuredProvider: 'lan.default.ovn' },
    ]);
  });

  it('The networks of an installation leave those of other plugins out, and name what no plugin can read', async () => {
    expect(await read('')).to.deep.equal([]);
    expect(await read('{"type":"macvlan","ipam":{"type":"host-local"}}')).to.deep.equal([]);
    expect(await read('{"type":"kube-ovn"}', true)).to.deep.equal([]);
    expect(await read('{"name":"x"}')).to.deep.equal([
      { key: 'default/lan', problem: 'its spec.config has neither type nor plugins' },
    ]);
    const [broken] = await read('{');
    expect(broken?.problem).to.match(/^its spec\.config is not valid JSON: /);
  });
});
