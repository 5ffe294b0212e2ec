import { expect } from 'chai';
import { mustRun } from '../../test/harness/processes/command.ts';
import { formatEnvFile } from './env-file.ts';

describe('The env file of `make up`', () => {
  const exports = {
    kubeconfig: `/home/o'brien/my $HOME/kube config`,
    etcd: { ETCDCTL_ENDPOINTS: 'http://127.0.0.1:12345', ETCDCTL_CERT: '' },
    allocator: '127.0.0.1:12346',
    readModel: '127.0.0.1:12347',
    metrics: ['127.0.0.1:12348', '[::1]:12349'],
    tls: { IPLEDGER_TLS_CA: '', IPLEDGER_TLS_CERT: '', IPLEDGER_TLS_KEY: '' },
    sockets: ['/run/one.sock', '/run/two.sock'],
    cniPath: '/dist:/bin `id`',
    netConfPath: '/net.d',
    programs: '/up/bin "quoted"',
  };

  async function sourced(name: string): Promise<string> {
    const script = `${formatEnvFile(exports)}\nprintf %s "$${name}"`;
    return mustRun('sh', ['-c', script], { env: { PATH: '/usr/bin:/bin', IPLEDGER_TLS_CA: '/left/over' } });
  }

  it('The env file of `make up` quotes values with special characters for a shell', async () => {
    expect(await sourced('KUBECONFIG')).to.equal(exports.kubeconfig);
    expect(await sourced('CNI_PATH')).to.equal(exports.cniPath);
    expect(await sourced('PATH')).to.equal('/up/bin "quoted":/usr/bin:/bin');
  });

  it('The env file of `make up` numbers the sockets from 1, and repeats the first socket without a number', async () => {
    expect(await sourced('IPLEDGER_SOCKET')).to.equal('/run/one.sock');
    expect(await sourced('IPLEDGER_SOCKET_1')).to.equal('/run/one.sock');
    expect(await sourced('IPLEDGER_SOCKET_2')).to.equal('/run/two.sock');
  });

  it('The env file of `make up` names the metrics and the namespace that `ipledger doctor` reads', async () => {
    expect(await sourced('IPLEDGER_METRICS')).to.equal('127.0.0.1:12348,[::1]:12349');
    expect(await sourced('IPLEDGER_NAMESPACE')).to.equal('kube-system');
  });

  it('The env file of `make up` unsets the TLS variables for plaintext', async () => {
    expect(await sourced('IPLEDGER_TLS_CA')).to.equal('');
    expect(await sourced('{ETCDCTL_CERT-unset}')).to.equal('unset');
  });
});
