/** Reloads the trusted authorities of a client when their file changes (stable-files.ts). */
import { readFileSync } from 'node:fs';
import type { experimental } from '@grpc/grpc-js';
import type { Logger } from '../process/log.ts';
import { parseCertificates } from './certificates.ts';
import { StableFiles } from './stable-files.ts';

type AuthorityListener = experimental.CaCertificateUpdateListener;

export interface AuthorityReloaderOptions {
  readonly log?: Logger | undefined;
  readonly pollIntervalMs?: number;
}

interface Authorities {
  readonly ca: Buffer;
}

/** The certificate provider for grpc-js. It polls the file while it has a listener. */
export class AuthorityReloader implements experimental.CertificateProvider {
  readonly #files: StableFiles<Authorities, Buffer>;

  /** @throws Error with the file and the reason, if it has no certificates now */
  constructor(file: string, { log, pollIntervalMs }: AuthorityReloaderOptions = {}) {
    this.#files = new StableFiles<Authorities, Buffer>({
      read: () => ({ ca: readFileSync(file) }),
      validate: ({ ca }) => {
        parseCertificates(file, ca);
        return ca;
      },
      onInstalled: () => log?.info({ file }, 'authorities installed'),
      onRejected: (reason) =>
        log?.warn({ reason }, 'the new authorities are invalid and not installed; the old ones stay in use'),
      pollIntervalMs,
    });
  }

  /** The authorities for new connections, in PEM. */
  get current(): Buffer {
    return this.#files.current;
  }

  addCaCertificateListener(listener: AuthorityListener): void {
    this.#files.addListener(listener, (caCertificate) => listener({ caCertificate }));
  }

  removeCaCertificateListener(listener: AuthorityListener): void {
    this.#files.removeListener(listener);
  }

  /** @throws Error: such a client has no certificate of its own */
  addIdentityCertificateListener(): void {
    throw new Error('a client that identifies by a token has no certificate');
  }

  removeIdentityCertificateListener(): void {
    // Nothing to remove, because none can be added.
  }
}
