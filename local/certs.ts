/**
 * `make certs`: creates two authorities and a certificate for each program. Variables: CERTS,
 * NODES, ALLOCATORS, OPERATORS, RENEW.
 */
import { relative } from 'node:path';
import { errorMessage } from '../lib/errors.ts';
import { formatTextTable } from '../cli/output/table.ts';
import { makeCertificates } from '../test/harness/certificates/certificates.ts';
import { printProgress } from '../test/harness/progress.ts';
import { readCertificateSubjects, readCertificateFolder } from './up/settings.ts';

/** A path relative to the working directory, if it is below it. */
const relativePath = (file: string): string => {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
};

try {
  const folder = readCertificateFolder(process.env);
  const made = await makeCertificates({
    folder,
    ...readCertificateSubjects(process.env),
    renew: process.env['RENEW'] === '1',
  });
  const rows = made.map(({ subject, state, files }) => [subject, state, relativePath(files.cert)]);
  process.stdout.write(formatTextTable(['SUBJECT', 'STATE', 'CERTIFICATE'], rows));
  console.log(
    '\nThe key of each certificate is in the same folder. Each ca.key can sign any identity: move both to a safe place.',
  );
} catch (error) {
  printProgress(`certs: ${errorMessage(error)}`);
  process.exit(1);
}
