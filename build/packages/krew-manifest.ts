/** The manifest of the kubectl plugin for krew (https://krew.sigs.k8s.io). */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';

export interface KrewArchive {
  readonly os: string;
  readonly architecture: string;
  /** The URL from which krew downloads the archive. */
  readonly url: string;
  readonly content: Buffer;
  /** The path of the executable in the archive. */
  readonly executable: string;
}

/** Returns the YAML of `NAME.yaml`: krew requires that name and file name are equal. */
export const formatKrewManifest = (name: string, version: string, archives: readonly KrewArchive[]): string =>
  stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name },
    spec: {
      version: `v${version}`,
      shortDescription: 'Query and repair the ledger of Pod addresses',
      description:
        'Shows which Pod has or had an address and why, compares the ledger of\n' +
        'ipledger with the cluster, verifies its history, and releases, reserves\n' +
        'and quarantines addresses.\n',
      platforms: archives.map(({ os, architecture, url, content, executable }) => ({
        selector: { matchLabels: { os, arch: architecture } },
        uri: url,
        sha256: createHash('sha256').update(content).digest('hex'),
        bin: executable,
      })),
    },
  });
