/**
 * Certificates that follow their files: whoever renews them, by rename or by writing over them, restarts nothing. New
 * connections are made with what the files hold by now; those that stand go on as they are, so no call is lost.
 *
 *   read ─► the same as at the look before? ─► would a peer take it? ─► taken up
 *             no: perhaps half written,          no: said in the log,
 *             look again                         the old go on
 *
 * So a key and a certificate that are replaced one after the other are taken up together, when they fit. Files are looked
 * at on a timer: watching them would miss what Kubernetes does to a mounted Secret, which is to turn a symbolic link.
 */
import { createHash, type X509Certificate } from 'node:crypto';
import type { experimental } from '@grpc/grpc-js';
import { type Certificates, checkCertificates, expiryOf, iso, readPems, type TlsFiles } from './certificates.ts';
import type { Logger } from './log.ts';

type AuthorityListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

const usualLookMs = 1_000;
/** In the last tenth of a certificate's life its renewal is overdue. */
const overduePart = 0.1;
const remindMs = 3_600_000;

export interface RenewalOptions {
  /** Without one nothing is said, as in a program that is over at once. */
  readonly log?: Logger | undefined;
  /** What else a certificate must have; throws Error when it has not. */
  readonly check?: (shown: X509Certificate) => void;
  readonly lookMs?: number;
  readonly now?: () => number;
}

/** What was found at a look: the files' contents, or why there are none. */
interface Sight {
  readonly print: string;
  readonly found: Certificates | Error;
}

/** What grpc-js asks for certificates. It looks at the files while somebody listens: a channel that is in use, or a server. */
export class RenewedCertificates implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  readonly #options: Required<Omit<RenewalOptions, 'log'>> & Pick<RenewalOptions, 'log'>;
  readonly #authorityListeners = new Set<AuthorityListener>();
  readonly #identityListeners = new Set<IdentityListener>();
  #taken: { readonly print: string; readonly certificates: Certificates; readonly shown: X509Certificate };
  #seen: string;
  /** The last complaint: each is made once, not every second. */
  #said = '';
  #remindAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @throws Error that names the file and says what to do, when what they hold now won't do. */
  constructor(files: TlsFiles, { log, check = () => undefined, lookMs = usualLookMs, now = Date.now }: RenewalOptions) {
    this.#files = files;
    this.#options = { log, check, lookMs, now };
    const { print, found } = lookAt(files);
    this.#taken = { print, ...this.#accept(found) };
    this.#seen = print;
  }

  /** What new connections are made with. */
  get current(): Certificates {
    return this.#taken.certificates;
  }

  addCaCertificateListener(listener: AuthorityListener): void {
    this.#authorityListeners.add(listener);
    this.#listen(() => listener({ caCertificate: this.current.ca }));
  }

  removeCaCertificateListener(listener: AuthorityListener): void {
    this.#authorityListeners.delete(listener);
    this.#rest();
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.add(listener);
    this.#listen(() => listener({ certificate: this.current.cert, privateKey: this.current.key }));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.delete(listener);
    this.#rest();
  }

  #listen(tell: () => void): void {
    if (!this.#timer) {
      // What was taken up when somebody listened last may have ended since, and who comes now connects at once: two looks.
      this.#look();
      this.#look();
      this.#timer = setInterval(() => this.#look(), this.#options.lookMs);
      this.#timer.unref();
    }
    // Not at once: whoever adds a listener is not ready to hear it yet.
    queueMicrotask(tell);
  }

  #rest(): void {
    if (this.#authorityListeners.size + this.#identityListeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const { print, found } = lookAt(this.#files);
    const settled = print === this.#seen;
    this.#seen = print;
    if (print === this.#taken.print) this.#said = '';
    else if (settled) this.#takeUp(print, found);
    this.#remind();
  }

  #takeUp(print: string, found: Certificates | Error): void {
    try {
      this.#taken = { print, ...this.#accept(found) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.#said)
        this.#options.log?.warn({ reason }, 'certificates on disk are not taken up: the old go on');
      this.#said = reason;
      return;
    }
    const { certificates, shown } = this.#taken;
    this.#said = '';
    this.#remindAt = 0;
    this.#options.log?.info({ file: this.#files.cert, expires: iso(expiryOf(shown)) }, 'certificates taken up');
    for (const listener of this.#authorityListeners) listener({ caCertificate: certificates.ca });
    for (const listener of this.#identityListeners)
      listener({ certificate: certificates.cert, privateKey: certificates.key });
  }

  #accept(found: Certificates | Error): { certificates: Certificates; shown: X509Certificate } {
    if (found instanceof Error) throw found;
    const shown = checkCertificates(this.#files, found, this.#options.now());
    this.#options.check(shown);
    return { certificates: found, shown };
  }

  /** Says, once an hour, that a renewal is overdue. */
  #remind(): void {
    const { shown } = this.#taken;
    const [now, expires, begun] = [this.#options.now(), expiryOf(shown), shown.validFromDate.getTime()];
    if (expires - now > (expires - begun) * overduePart || now < this.#remindAt) return;
    this.#remindAt = now + remindMs;
    const said = { file: this.#files.cert, expires: iso(expires) };
    if (expires > now) this.#options.log?.warn(said, 'the certificate ends soon: renew it');
    else this.#options.log?.error(said, 'the certificate has expired, nobody accepts it any more: renew it');
  }
}

function lookAt(files: TlsFiles): Sight {
  try {
    const found = readPems(files);
    const hash = createHash('sha256');
    for (const pem of [found.ca, found.cert, found.key]) hash.update(`${pem.length} `).update(pem);
    return { print: hash.digest('hex'), found };
  } catch (error) {
    const problem = error instanceof Error ? error : new Error(String(error));
    return { print: problem.message, found: problem };
  }
}
