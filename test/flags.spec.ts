import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const root = join(import.meta.dirname, '..');

/** Flags of etcd, etcdctl, etcdutl, kubectl and jq, and what commander adds. */
const ofOthers = new Set(
  (
    '--arg --auto-compaction-mode --auto-compaction-retention --bump-revision --client-cert-auth --data-dir --force --help ' +
    '--force-conflicts --grace-period --keys-only --mark-compacted --new-user-password --no-password --prefix ' +
    '--print-value-only --quota-backend-bytes --server-side --trusted-ca-file'
  ).split(' '),
);

const documents = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];
const text = documents.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');

/** What is laid out as code: blocks, and spans within a line. */
const code = [
  ...[...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n')),
  ...[...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span),
];

const flagsIn = (said: string): string[] => [...said.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag);

/** How the verbs of the command line are called, each with the flags that it is given. */
const typed = code.flatMap((line) =>
  [...line.matchAll(/(?:^|[|;(] *|\$ |kubectl )ipledger ([a-z][a-z-]*(?: kube-ovn)?)([^|;#]*)/g)].map(
    ([, verb = '', rest = '']) => ({ verb: verb.split(' '), flags: flagsIn(rest) }),
  ),
);

/** Of a verb; without one, of the program. */
async function helpOf(verb = ''): Promise<string> {
  const args = [...verb.split(' ').filter((word) => word !== ''), '--help'];
  return (await promisify(execFile)(join(root, 'cli/ipledger'), args)).stdout;
}

describe('README.md and docs', function () {
  this.timeout(120_000);

  it('name no verb of the command line that there is not', async () => {
    expect(typed).to.have.length.greaterThan(40);
    const help = await helpOf();
    const wrong = typed.filter(({ verb: [first = ''] }) => !help.includes(`\n  ${first} `));
    expect(wrong).to.deep.equal([]);
  });

  it('give each verb flags that it has', async () => {
    const withFlags = typed.filter(({ flags }) => flags.length > 0).map(({ verb }) => verb.join(' '));
    const helps = new Map<string, string>();
    await Promise.all([...new Set(withFlags)].map(async (verb) => helps.set(verb, await helpOf(verb))));
    const wrong = typed.flatMap(({ verb, flags }) => {
      const known = flagsIn(helps.get(verb.join(' ')) ?? '');
      return flags.filter((flag) => !known.includes(flag)).map((flag) => `${verb.join(' ')} ${flag}`);
    });
    expect(wrong).to.deep.equal([]);
  });

  it('name no flag and no variable that no program has', () => {
    const files = globSync(['{services,cli,lib}/**/*.ts', 'cni/*.go'], {
      cwd: root,
      exclude: ['**/*.spec.ts', 'cni/*_test.go'],
    });
    const sources = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
    const defined = new Set([...sources.matchAll(/'(?:-\w, )?(--[a-z][a-z-]+)[ ']/g)].map(([, flag]) => flag));
    const unknown = [
      ...flagsIn(text).filter((flag) => !defined.has(flag) && !ofOthers.has(flag)),
      ...[...text.matchAll(/\bIPLEDGER_[A-Z_]*[A-Z]\b/g)]
        .map(([name]) => name)
        .filter((name) => !sources.includes(name)),
    ];
    expect(unknown).to.deep.equal([]);
  });
});
