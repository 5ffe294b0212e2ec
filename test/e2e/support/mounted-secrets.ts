/**
 * Mounts the TLS Secrets of a namespace as the kubelet does: one rename of a link replaces all
 * files of a Secret.
 */
import { X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { connectApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { TlsFiles } from '../../../lib/tls/certificates.ts';
import type { Run } from '../../harness/run.ts';

/** A limit beyond the time in which the API server ends a watch. */
const silenceMs = 3_600_000;

export interface MountedSecrets {
  /** Returns the paths of a Secret's files, which exist some time after the Secret. */
  filesOf(secret: string): TlsFiles;
  /** Reads the certificate in tls.crt. @throws Error before the Secret is mounted */
  certificateOf(secret: string): X509Certificate;
}

interface SecretChange {
  readonly type: string;
  readonly object: {
    readonly type: string;
    readonly metadata: { readonly name: string };
    readonly data?: Readonly<Record<string, string>>;
  };
}

/**
 * Mounts each Secret with a certificate, and follows its changes until the run ends. Keeps the
 * files of a deleted Secret.
 */
export function mountSecrets(run: Run, kubeconfig: string, namespace: string): MountedSecrets {
  const folder = join(run.folder, 'secrets');
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = connectApi(config);
  const follow = async (): Promise<void> => {
    while (!run.signal.aborted)
      for await (const line of api.stream(`/api/v1/namespaces/${namespace}/secrets?watch=1`, {
        silenceMs,
        signal: run.signal,
      })) {
        const { type, object } = line as SecretChange;
        if (/^(ADDED|MODIFIED)$/.test(type) && object.type === 'kubernetes.io/tls')
          replaceVolume(join(folder, object.metadata.name), object.data ?? {});
      }
  };
  let failure: unknown;
  const ended = follow().catch((error: unknown) => {
    if (!run.signal.aborted) failure = error;
  });
  run.onEnd(() => ended);

  const filesOf = (secret: string): TlsFiles => {
    const path = (file: string): string => join(folder, secret, file);
    return { ca: path('ca.crt'), cert: path('tls.crt'), key: path('tls.key') };
  };
  return {
    filesOf,
    certificateOf(secret) {
      if (failure !== undefined) throw new Error('the Secrets are not followed', { cause: failure });
      return new X509Certificate(readFileSync(filesOf(secret).cert));
    },
  };
}

/** Writes a volume as the kubelet does. @param data the files, in base64 */
export function replaceVolume(folder: string, data: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  const fresh = mkdtempSync(join(folder, '..new_'));
  for (const [name, content] of Object.entries(data))
    writeFileSync(join(fresh, name), Buffer.from(content, 'base64'), { mode: 0o440 });
  const link = join(folder, '..data');
  const old = existsSync(link) ? readlinkSync(link) : undefined;
  symlinkSync(basename(fresh), `${link}_tmp`);
  renameSync(`${link}_tmp`, link);
  for (const name of Object.keys(data))
    if (!existsSync(join(folder, name))) symlinkSync(join('..data', name), join(folder, name));
  if (old !== undefined) rmSync(join(folder, old), { recursive: true });
}
