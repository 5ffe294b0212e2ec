/** The certificate that browsers see: of the options, else the console's client certificate. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Logger } from '../../../lib/process/log.ts';
import type { Tls } from '../../../lib/tls/client-tls.ts';
import { StableFiles } from '../../../lib/tls/stable-files.ts';

export interface ServerCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface ServerCertificates {
  readonly current: ServerCertificate;
  /** Calls `install` for each renewed certificate, until the returned function is called. */
  onRenewed(install: (renewed: ServerCertificate) => void): () => void;
}

export interface CertificateFiles {
  readonly httpsCert?: string;
  readonly httpsKey?: string;
}

/** Reads the certificate; undefined for HTTP. @throws Error for invalid files, or one file */
export function serverCertificates(files: CertificateFiles, tls: Tls, log: Logger): ServerCertificates | undefined {
  const { httpsCert = '', httpsKey = '' } = files;
  if ((httpsCert === '') !== (httpsKey === '')) throw new Error('--https-cert and --https-key: set both, or none');
  if (httpsCert !== '') return certificatesOfFiles(httpsCert, httpsKey, log);
  if (!tls) return undefined;
  return {
    current: tls.current,
    onRenewed: (install) => {
      const listener = (renewed: { certificate: Buffer; privateKey: Buffer } | null): void => {
        if (renewed) install({ cert: renewed.certificate, key: renewed.privateKey });
      };
      tls.addIdentityCertificateListener(listener);
      return () => tls.removeIdentityCertificateListener(listener);
    },
  };
}

/** Reads files that cert-manager or an operator renews. */
function certificatesOfFiles(certFile: string, keyFile: string, log: Logger): ServerCertificates {
  const files = new StableFiles<ServerCertificate, ServerCertificate>({
    read: () => ({ cert: readFileSync(certFile), key: readFileSync(keyFile) }),
    validate: (read) => {
      createSecureContext(read);
      if (Date.parse(new X509Certificate(read.cert).validTo) < Date.now()) throw new Error(`${certFile} has expired`);
      return read;
    },
    onInstalled: () => log.info({ file: certFile }, 'certificate for browsers installed'),
    onRejected: (reason) => log.warn({ reason }, 'the new certificate for browsers is invalid, and the old one stays'),
  });
  return {
    current: files.current,
    onRenewed: (install) => {
      files.addListener(install, install);
      return () => files.removeListener(install);
    },
  };
}
