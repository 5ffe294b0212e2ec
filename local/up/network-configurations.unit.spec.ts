import { expect } from 'chai';
import { configurationList, daemonSocket } from './network-configurations.ts';

describe('The CNI configuration list of a NAD', () => {
  function nad(config: object) {
    return {
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'macvlan' },
      spec: { config: JSON.stringify(config) },
    };
  }

  it('The CNI configuration list of a NAD has the name of the NAD if the configuration has none', () => {
    const config = { cniVersion: '0.3.0', type: 'macvlan', master: 'eth0', ipam: { type: 'static' } };
    expect(configurationList(nad(config), daemonSocket)).to.deep.equal({
      cniVersion: '0.3.0',
      name: 'macvlan',
      plugins: [{ type: 'macvlan', master: 'eth0', ipam: { type: 'static' } }],
    });
  });

  it('The CNI configuration list of a NAD keeps the name and the plugin chain of the configuration', () => {
    const plugins = [{ type: 'macvlan' }, { type: 'tuning' }];
    const list = configurationList(nad({ cniVersion: '1.0.0', name: 'own', plugins }), daemonSocket);
    expect(list).to.deep.equal({ cniVersion: '1.0.0', name: 'own', plugins });
  });

  it('The CNI configuration list of a NAD names the socket of the agent instead of that of Kube-OVN', () => {
    const ipam = { type: 'kube-ovn', server_socket: daemonSocket, provider: 'macvlan.default' };
    expect(configurationList(nad({ type: 'macvlan', ipam }), '/our.sock')?.plugins).to.deep.equal([
      { type: 'macvlan', ipam: { ...ipam, server_socket: '/our.sock' } },
    ]);
    expect(
      configurationList(nad({ type: 'kube-ovn', server_socket: daemonSocket }), '/our.sock')?.plugins,
    ).to.deep.equal([{ type: 'kube-ovn', server_socket: '/our.sock' }]);
  });

  it('The CNI configuration list of a NAD keeps another socket of the NAD', () => {
    const ipam = { type: 'kube-ovn', server_socket: '/elsewhere.sock' };
    expect(configurationList(nad({ type: 'macvlan', ipam }), '/our.sock')?.plugins[0]?.ipam).to.deep.equal(ipam);
  });

  it('The CNI configuration list of a NAD is undefined for a NAD without a configuration and for other objects', () => {
    expect(
      configurationList({ kind: 'NetworkAttachmentDefinition', metadata: { name: 'empty' } }, '/our.sock'),
    ).to.equal(undefined);
    expect(configurationList({ kind: 'Pod', metadata: { name: 'samplepod' } }, '/our.sock')).to.equal(undefined);
  });
});
