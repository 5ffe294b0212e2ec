/**
 * Launches of kube-apiserver and kube-controller-manager on loopback, with their own certificates.
 * Scheduler and kubelet are in node/.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeKubeconfig } from './kubeconfig.ts';
import type { Launch } from '../processes/launch.ts';
import {
  type Authority,
  issueCertificate,
  openAuthority,
  createSigningKey,
} from '../certificates/certificate-authority.ts';
import { probeHttp } from '../processes/readiness-probes.ts';
import { findProgram } from '../programs/find-program.ts';

export interface ControlPlaneSettings {
  /** Folder of certificates and kubeconfigs. */
  readonly folder: string;
  readonly etcdEndpoint: string;
  readonly port: number;
  readonly controllerManagerPort: number;
  /** Whether nodes have kubelets (default no). If so, the node lifecycle controller runs. */
  readonly kubelets?: boolean | undefined;
}

export interface ControlPlane {
  /** "https://127.0.0.1:<port>" */
  readonly url: string;
  /** kubeconfig file of a cluster administrator. */
  readonly kubeconfig: string;
  readonly authority: Authority;
  readonly apiServer: Launch;
  readonly controllerManager: Launch;
}

// A documentation address (RFC 5737), which is never used: Kubernetes rejects loopback here
const advertised = '192.0.2.1';
const serviceRange = '10.96.0.0/16';
const serviceAddress = '10.96.0.1';

/**
 * The controllers of a cluster without kubelets. The two excluded controllers would mark each Node
 * unreachable after 50 s, and evict its Pods five minutes later.
 */
const withoutKubelets = ['*', '-node-lifecycle-controller', '-taint-eviction-controller'];

/** Creates missing certificates and kubeconfigs. Returns the launches of both servers. */
export async function controlPlane(settings: ControlPlaneSettings): Promise<ControlPlane> {
  const { folder, port } = settings;
  const url = `https://127.0.0.1:${port}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = await openAuthority(join(folder, 'pki'));
  const [admin, manager, serving, accountKey] = await Promise.all([
    issueCertificate(authority, { name: 'admin', commonName: 'admin', organizations: ['system:masters'] }),
    issueCertificate(authority, { name: 'controller-manager', commonName: 'system:kube-controller-manager' }),
    issueCertificate(authority, {
      name: 'apiserver',
      commonName: 'kube-apiserver',
      alternativeNames: ['DNS:localhost', 'DNS:kubernetes.default.svc', 'IP:127.0.0.1', `IP:${serviceAddress}`],
    }),
    createSigningKey(authority.folder, 'service-account'),
  ]);
  const kubeconfig = writeKubeconfig(join(folder, 'kubeconfig'), url, authority, admin);
  const managerConfig = writeKubeconfig(join(folder, 'controller-manager.kubeconfig'), url, authority, manager);
  const adminPems = { ca: read(authority.cert), cert: read(admin.cert), key: read(admin.key) };
  return {
    url,
    kubeconfig,
    authority,
    apiServer: {
      name: 'kube-apiserver',
      program: await findProgram('kube-apiserver'),
      args: apiServerFlags(settings, { authority, serving, accountKey }),
      ready: (signal) => probeHttp(`${url}/readyz`, signal, adminPems),
      readyWithinMs: 120_000,
    },
    controllerManager: {
      name: 'kube-controller-manager',
      program: await findProgram('kube-controller-manager'),
      args: controllerManagerFlags(settings, { authority, managerConfig, accountKey }),
      ready: async (signal) => {
        await probeHttp(`https://127.0.0.1:${settings.controllerManagerPort}/healthz`, signal);
        // Without this ServiceAccount, no Pod can be created
        await probeHttp(`${url}/api/v1/namespaces/default/serviceaccounts/default`, signal, adminPems);
      },
      readyWithinMs: 120_000,
    },
  };
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

interface ApiServerFiles {
  readonly authority: Authority;
  readonly serving: { readonly cert: string; readonly key: string };
  readonly accountKey: string;
}

function apiServerFlags({ etcdEndpoint, port }: ControlPlaneSettings, files: ApiServerFiles): string[] {
  return [
    `--etcd-servers=${etcdEndpoint}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--advertise-address=${advertised}`,
    '--endpoint-reconciler-type=none',
    `--tls-cert-file=${files.serving.cert}`,
    `--tls-private-key-file=${files.serving.key}`,
    `--client-ca-file=${files.authority.cert}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.accountKey}`,
    `--service-account-signing-key-file=${files.accountKey}`,
    `--service-cluster-ip-range=${serviceRange}`,
    '--profiling=false',
  ];
}

interface ControllerManagerFiles {
  readonly authority: Authority;
  readonly managerConfig: string;
  readonly accountKey: string;
}

function controllerManagerFlags(
  { controllerManagerPort, kubelets = false }: ControlPlaneSettings,
  files: ControllerManagerFiles,
): string[] {
  return [
    `--kubeconfig=${files.managerConfig}`,
    `--authentication-kubeconfig=${files.managerConfig}`,
    `--authorization-kubeconfig=${files.managerConfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${controllerManagerPort}`,
    '--leader-elect=false',
    // The default rate would take 4 s to create its own ServiceAccounts before that of Pods
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    '--use-service-account-credentials',
    `--root-ca-file=${files.authority.cert}`,
    `--service-account-private-key-file=${files.accountKey}`,
    ...(kubelets ? [] : [`--controllers=${withoutKubelets.join(',')}`]),
    '--profiling=false',
  ];
}
