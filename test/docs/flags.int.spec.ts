/**
 * Checks that the documents name existing verbs, flags and variables of the command line and the
 * services.
 */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');

/**
 * Flags of etcd, etcdctl, etcdutl, kubectl, krew, helm, jq, tar, Kube-OVN, Node and V8, and those
 * that commander adds.
 */
const foreignFlags = new Set(
  (
    '--all-containers --arg --audience --auto-compaction-mode --auto-compaction-retention --bump-revision --client-cert-auth --cluster --clusterrole --command-timeout --containers --corrupt-check-time --data-dir --duration --endpoints --feature-gates --field-selector --force --initial-advertise-peer-urls --initial-cluster ' +
    '--force-conflicts --grace-period --help --keep-vm-ip --keys-only --listen-client-http-urls --manifest --mark-compacted --new-user-password --no-hooks --no-password --one-top-level --password-stdin --physical --prefix --previous ' +
    '--always-sparkplug --expose-gc --format --from --heap-growing-percent --lite-mode --max-old-space-size --max-semi-space-size --min-semi-space-size --no-lazy-feedback-allocation --no-parallel-scavenge --single-threaded-gc --wait --print-value-only --quota-backend-bytes --replicas --resource --resource-name --role --server-side --serviceaccount --set --set-json --timeout --trusted-ca-file --use-openssl-ca --use-system-ca --user --values --verb'
  ).split(' '),
);

const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];
const text = documents.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');

/** All code of the documents: blocks and spans. */
const code = [
  ...[...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n')),
  ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span),
];

const flagsIn = (line: string): string[] => [...line.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag);

/** Each call of a verb in the documents, with its flags. */
const verbCalls = code.flatMap((line) =>
  [
    ...line.matchAll(
      /(?:^|[|;(] *|\$ |kubectl )ipledger ([a-z][a-z-]*(?: (?:kube-ovn|whereabouts|host-local))?)([^|;#]*)/g,
    ),
  ].map(([, verb = '', rest = '']) => ({
    verb: verb.split(' '),
    flags: verb === 'with-etcd' ? [] : flagsIn(rest), // most are of its command
  })),
);

/** Reads the help text of a verb, or of the program. */
async function helpOf(verb = ''): Promise<string> {
  const args = [...verb.split(' ').filter((word) => word !== ''), '--help'];
  return (await promisify(execFile)(join(root, 'cli/ipledger'), args)).stdout;
}

describe('README.md and docs', function () {
  this.timeout(120_000);

  it('README.md and docs name existing verbs of the command line', async () => {
    expect(verbCalls).to.have.length.greaterThan(40);
    const help = await helpOf();
    const wrong = verbCalls.filter(({ verb: [first = ''] }) => !help.includes(`\n  ${first} `));
    expect(wrong).to.deep.equal([]);
  });

  it('README.md and docs call each verb with existing flags', async () => {
    const withFlags = verbCalls.filter(({ flags }) => flags.length > 0).map(({ verb }) => verb.join(' '));
    const helps = new Map<string, string>();
    await Promise.all([...new Set(withFlags)].map(async (verb) => helps.set(verb, await helpOf(verb))));
    const wrong = verbCalls.flatMap(({ verb, flags }) => {
      const known = flagsIn(helps.get(verb.join(' ')) ?? '');
      return flags.filter((flag) => !known.includes(flag)).map((flag) => `${verb.join(' ')} ${flag}`);
    });
    expect(wrong).to.deep.equal([]);
  });

  it('README.md and docs name existing flags and environment variables', () => {
    const files = globSync(['{services,ledger,cli,lib}/**/*.ts', 'cni/*.go'], {
      cwd: root,
      exclude: ['**/*.spec.ts', 'cni/*_test.go'],
    });
    const sources = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    const defined = new Set([...sources.matchAll(/'(?:-\w, )?(--[a-z][a-z-]+)[ ']/g)].map(([, flag]) => flag));
    const unknown = [
      ...flagsIn(text).filter((flag) => !defined.has(flag) && !foreignFlags.has(flag)),
      ...[...text.matchAll(/\bIPLEDGER_[A-Z_]*[A-Z]\b/g)]
        .map(([name]) => name)
        .filter((name) => !sources.includes(name)),
    ];
    expect(unknown).to.deep.equal([]);
  });
});
