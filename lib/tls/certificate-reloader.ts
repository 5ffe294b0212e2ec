/**
 * Reloads certificates when their files change (stable-files.ts), if a peer would accept them.
 * Programs need no restart. New connections use the new certificates. Open connections continue, so
 * no call is lost.
 */
import type { X509Certificate } from 'node:crypto';
import type { experimental } from '@grpc/grpc-js';
import {
  type Certificates,
  checkCertificates,
  expiryOf,
  formatInstant,
  parseCertificates,
  readCertificates,
  type TlsFiles,
} from './certificates.ts';
import type { Logger } from '../process/log.ts';
import type { GaugeOptions } from '../process/metrics.ts';
import { StableFiles } from './stable-files.ts';

type AuthorityListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

/** The last part of a certificate's validity. A renewal is overdue in it. */
const overdueFraction = 0.1;
const reminderIntervalMs = 3_600_000;

export interface CertificateReloaderOptions {
  /** Absent in short-lived programs, which log nothing. */
  readonly log?: Logger | undefined;
  /** A further check of the certificate. Throws Error to reject it. */
  readonly check?: (certificate: X509Certificate) => void;
  readonly pollIntervalMs?: number;
  readonly now?: () => number;
}

interface Installed {
  readonly certificates: Certificates;
  readonly own: X509Certificate;
  /** The authority that expires last. */
  readonly authority: X509Certificate;
}

/** All reloaders of the process. They live as long as the process. */
const reloaders: CertificateReloader[] = [];

/** The certificates of this process as metrics. Alerts name those that were not renewed. */
export const certificateGauges: readonly GaugeOptions[] = [
  {
    name: 'ipledger_certificate_remaining_ratio',
    help: 'The part of the validity of a certificate that is left; 0 when it has expired.',
    labels: ['file'],
    read: () => readEach(remainingOf),
  },
  {
    name: 'ipledger_certificate_expiry_timestamp_seconds',
    help: 'When a certificate expires.',
    labels: ['file'],
    read: () => readEach((certificate) => expiryOf(certificate) / 1_000),
  },
];

const readEach = (read: (certificate: X509Certificate, now: number) => number): Record<string, number> =>
  Object.fromEntries(reloaders.flatMap((each) => each.read(read)));

/**
 * The certificate provider for grpc-js. It polls the files while it has a listener, such as a
 * channel in use or a server.
 */
export class CertificateReloader implements experimental.CertificateProvider {
  readonly #paths: TlsFiles;
  readonly #log: Logger | undefined;
  readonly #now: () => number;
  readonly #files: StableFiles<Certificates, Installed>;
  #nextReminderAt = 0;

  /** @throws Error with the file and the remedy, if the files are invalid now */
  constructor(paths: TlsFiles, { log, check, pollIntervalMs, now = Date.now }: CertificateReloaderOptions) {
    this.#paths = paths;
    this.#log = log;
    this.#now = now;
    this.#files = new StableFiles({
      read: () => readCertificates(paths),
      validate: (certificates) => {
        const own = checkCertificates(paths, certificates, now());
        check?.(own);
        const authority = parseCertificates(paths.ca, certificates.ca).reduce((one, other) =>
          expiryOf(other) > expiryOf(one) ? other : one,
        );
        return { certificates, own, authority };
      },
      onInstalled: ({ own }) => {
        this.#nextReminderAt = 0;
        log?.info({ file: paths.cert, expires: formatInstant(expiryOf(own)) }, 'certificates installed');
      },
      onRejected: (reason) =>
        log?.warn({ reason }, 'new certificate files are invalid and not installed; the old certificates stay in use'),
      afterPoll: () => this.#warnBeforeExpiry(),
      pollIntervalMs,
    });
    if (log) reloaders.push(this);
  }

  /** A value for each file: of the certificate, and of the authority that expires last. */
  read(of: (certificate: X509Certificate, now: number) => number): [file: string, value: number][] {
    const { own, authority } = this.#files.current;
    return [
      [this.#paths.cert, of(own, this.#now())],
      [this.#paths.ca, of(authority, this.#now())],
    ];
  }

  /** The certificates for new connections. */
  get current(): Certificates {
    return this.#files.current.certificates;
  }

  addCaCertificateListener(listener: AuthorityListener): void {
    this.#files.addListener(listener, ({ certificates }) => listener({ caCertificate: certificates.ca }));
  }

  removeCaCertificateListener(listener: AuthorityListener): void {
    this.#files.removeListener(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#files.addListener(listener, ({ certificates }) =>
      listener({ certificate: certificates.cert, privateKey: certificates.key }),
    );
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#files.removeListener(listener);
  }

  /** Logs once an hour that the renewal is overdue. */
  #warnBeforeExpiry(): void {
    const { own } = this.#files.current;
    const [now, expires] = [this.#now(), expiryOf(own)];
    if (remainingOf(own, now) > overdueFraction || now < this.#nextReminderAt) return;
    this.#nextReminderAt = now + reminderIntervalMs;
    const details = { file: this.#paths.cert, expires: formatInstant(expires) };
    if (expires > now) this.#log?.warn(details, 'the certificate expires soon: renew it');
    else this.#log?.error(details, 'the certificate has expired, and peers reject it: renew it');
  }
}

function remainingOf(certificate: X509Certificate, now: number): number {
  const expires = expiryOf(certificate);
  return Math.max(0, (expires - now) / (expires - certificate.validFromDate.getTime()));
}
