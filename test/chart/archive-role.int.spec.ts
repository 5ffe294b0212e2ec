/**
 * The chart's choice of an archive, and the allocator's access to an object store by a role with
 * web identity.
 */
import { expect } from 'chai';
import { containersOf, parseManifests, podSpecOf, renderChart, template } from './render-chart.ts';

const role = ['--set=archive.type=s3,archive.s3.bucket=ledger', '--set=archive.s3.roleArn=arn:aws:iam::1:role/ledger'];

describe('The chart with archive.s3.roleArn', () => {
  it('The chart with archive.s3.roleArn gives the allocator the role and a token with the audience of STS, and no access key', async () => {
    const text = await renderChart([], role);
    const variables = parseManifests(text)
      .flatMap((manifest) => podSpecOf(manifest) ?? [])
      .flatMap(containersOf)
      .flatMap(({ env = [] }) => env)
      .filter(({ name }) => name.startsWith('AWS_'));
    expect(variables).to.deep.equal([
      { name: 'AWS_REGION', value: 'us-east-1' },
      { name: 'AWS_ROLE_ARN', value: 'arn:aws:iam::1:role/ledger' },
      { name: 'AWS_WEB_IDENTITY_TOKEN_FILE', value: '/aws/token' },
    ]);
    expect(text).to.contain('{ name: aws, mountPath: /aws, readOnly: true }');
    expect(text).to.contain('audience: sts.amazonaws.com, expirationSeconds: 3600, path: token');
  });

  it('The chart with archive.s3.roleArn is rejected if it also has an access key', async () => {
    const both = renderChart([], [...role, '--set=archive.s3.secret=keys']);
    await both.then(
      () => expect.fail('it was rendered'),
      (error: unknown) => expect(String(error)).to.contain('archive.s3.secret and archive.s3.roleArn are both set'),
    );
  });
});

describe('The chart without a choice of an archive', () => {
  it('The chart without a choice of an archive is refused, and explains the choices', async () => {
    const { code, stderr } = await template([], ['--set=archive.type=']);
    expect(code).to.not.equal(0);
    expect(stderr).to.contain(
      'archive.type is not set: choose what becomes of old events. etcd: they stay in etcd, and the oldest are dropped at a limit.',
    );
  });
});
