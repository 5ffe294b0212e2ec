import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { allocation, request } from '../testing/fakes.ts';
import { formatAddResponse, formatErrorResponse } from './cni-response.ts';

const v4 = { address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' };
const v6 = { address: 'fd00::b', cidr: 'fd00::/64', gateway: 'fd00::1' };

const allocated = (changes: Partial<Allocation> = {}): Allocation => ({ ...allocation, ...changes });

describe('CNI response', () => {
  it('CNI response has the address of a secondary interface in both forms, and no gateway', () => {
    expect(formatAddResponse(request(), allocated())).to.equal(
      '{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16"}],' +
        '"protocol":"IPv4","address":"172.17.0.11","mac_address":"","cidr":"172.17.0.0/16","gateway":"",' +
        '"routes":null,"mtu":0,"nicname":"","dns":{},"error":""}',
    );
  });

  it('CNI response has the gateway for eth0', () => {
    expect(formatAddResponse(request({ if_name: 'eth0' }), allocated())).to.equal(
      '{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16","gateway":"172.17.0.1"}],' +
        '"protocol":"IPv4","address":"172.17.0.11","mac_address":"","cidr":"172.17.0.0/16","gateway":"172.17.0.1",' +
        '"routes":null,"mtu":0,"nicname":"","dns":{},"error":""}',
    );
  });

  it('CNI response joins two families with commas in the flat form', () => {
    expect(formatAddResponse(request({ if_name: '' }), allocated({ addresses: [v4, v6] }))).to.equal(
      '{"ips":[{"protocol":"IPv4","ip":"172.17.0.11","cidr":"172.17.0.0/16","gateway":"172.17.0.1"},' +
        '{"protocol":"IPv6","ip":"fd00::b","cidr":"fd00::/64","gateway":"fd00::1"}],' +
        '"protocol":"Dual","address":"172.17.0.11,fd00::b","mac_address":"","cidr":"172.17.0.0/16,fd00::/64",' +
        '"gateway":"172.17.0.1,fd00::1","routes":null,"mtu":0,"nicname":"","dns":{},"error":""}',
    );
  });

  it('CNI response has the network’s routes before the Pod’s, without empty fields', () => {
    const add = request({ routes: [{ dst: '10.0.0.0/8', gw: '172.17.0.253' }, { gw: '172.17.0.1' }] });
    const podRoutes = [
      { dst: '19.10.0.7/16', gw: '172.17.0.254' },
      { dst: '8.8.8.8/32', gw: '' },
    ];
    expect(formatAddResponse(add, allocated({ routes: podRoutes }))).to.contain(
      '"routes":[{"dst":"10.0.0.0/8","gw":"172.17.0.253"},{"gw":"172.17.0.1"},' +
        '{"dst":"19.10.0.7/16","gw":"172.17.0.254"},{"dst":"8.8.8.8/32"}],"mtu":0',
    );
  });

  it('CNI response has the gateway for the interface that the Pod’s annotation names, with any name', () => {
    expect(formatAddResponse(request({ if_name: 'eth0' }), allocated({ defaultRoute: false }))).to.not.contain(
      '172.17.0.1"',
    );
    expect(formatAddResponse(request(), allocated({ defaultRoute: true }))).to.contain('"gateway":"172.17.0.1"}]');
  });

  it('CNI response has each gateway, but no default route, for a plugin that gives the gateway’s address to the node', () => {
    const [v4Gateway, v6Gateway] = ['172.17.0.254', 'fd00::fe'];
    const addresses = [
      { ...v4, gateway: v4Gateway },
      { ...v6, gateway: v6Gateway },
    ];
    const formatted = formatAddResponse(request({ takes_gateway: true }), allocated({ addresses }));
    expect(JSON.parse(formatted)).to.deep.include({
      ips: [
        { protocol: 'IPv4', ip: v4.address, cidr: v4.cidr, node_gateway: v4Gateway },
        { protocol: 'IPv6', ip: v6.address, cidr: v6.cidr, node_gateway: v6Gateway },
      ],
      gateway: '',
      routes: null,
    });
    const asDefault = formatAddResponse(request({ takes_gateway: true, if_name: 'eth0' }), allocated({ addresses }));
    expect(asDefault).to.contain(`"gateway":"${v4Gateway},${v6Gateway}"`);
    expect(asDefault).to.not.contain('node_gateway');
  });

  it('CNI response has the same fields for an error', () => {
    expect(formatErrorResponse(new IpledgerError('NOT_ALLOCATED', 'no address'))).to.equal(
      '{"ips":null,"protocol":"","address":"","mac_address":"","cidr":"","gateway":"","routes":null,"mtu":0,' +
        '"nicname":"","dns":{},"error":"no address"}',
    );
  });

  it('CNI response has a CNI error code for an error that no retry resolves', () => {
    expect(JSON.parse(formatErrorResponse(new IpledgerError('NOT_IMPLEMENTED', 'never')))).to.include({
      cni_code: 100,
    });
  });
});
