/** The files of the command line that the npm package and the archive share. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { environmentVariables, exitStatuses } from '../../cli/program/help-text.ts';
import { verbTable } from '../../cli/verb-table.ts';
import { root } from '../bundle/bundle-programs.ts';
import { tarFile, type TarEntry } from '../oci/tar.ts';
import type { Release } from '../release.ts';
import { formatManPage } from './man-page.ts';

const launchers = ['ipledger', 'kubectl-ipledger', 'kubectl_complete-ipledger'];

const completions = {
  bash: 'share/bash-completion/completions/ipledger',
  zsh: 'share/zsh/site-functions/_ipledger',
  fish: 'share/fish/vendor_completions.d/ipledger.fish',
} as const;

/** @param bundle the folder of the bundled command line */
export async function commandLineFiles(bundle: string, release: Release): Promise<TarEntry[]> {
  return [
    ...launchers.map((name) => tarFile(`bin/${name}`, readFileSync(join(root, 'cli', name)), 0o755)),
    ...globSync('**/*.{mjs,proto}', { cwd: bundle }).map((path) =>
      tarFile(`lib/ipledger/${path}`, readFileSync(join(bundle, path))),
    ),
    ...Object.entries(completions).map(([shell, path]) => tarFile(path, printCompletion(bundle, shell))),
    tarFile('share/man/man1/ipledger.1', await createManPage(release)),
    tarFile('LICENSE', readFileSync(join(root, 'LICENSE'))),
    tarFile('README.md', readFileSync(join(root, 'docs/cli.md'))),
  ];
}

const printCompletion = (bundle: string, shell: string): string =>
  execFileSync(process.execPath, [join(bundle, 'ipledger.mjs'), 'completion', shell], { encoding: 'utf8' });

export async function createManPage({ version, createdAt }: Release): Promise<string> {
  const program = new Command('ipledger').enablePositionalOptions(); // as cli/main.ts
  for (const { usage, description, load } of verbTable) (await load())(program.command(usage).description(description));
  return formatManPage({
    name: 'ipledger',
    version,
    createdAt,
    summary: 'read the ledger of IP addresses, and change it',
    commands: program.commands,
    sections: [
      ['ENVIRONMENT', environmentVariables],
      ['EXIT STATUS', exitStatuses.map(([status, meaning]) => [String(status), meaning] as const)],
    ],
  });
}
