/**
 * The real programs that demo and tests need: where a user can say which to take, what is good enough, and what they are
 * built from when the machine has none.
 */
import type { VersionRange } from './version.ts';

/** A folder of Go modules' tools: test/tools/<name>, pinned by its go.mod and go.sum. */
export interface GoModule {
  readonly name: 'cni' | 'etcd' | 'grpcurl' | 'kubernetes' | 's3';
  /** Beyond `-s -w`. */
  readonly ldflags?: string;
}

export interface ProgramEntry {
  /** Environment variable that names the program's file (or, for a CNI plugin, the folder that it is in). */
  readonly variable: string;
  readonly variableNames: 'file' | 'folder';
  /** How it is asked for its version, and which will do. Without it any will. */
  readonly version?: { readonly args: readonly string[]; readonly range: VersionRange };
  readonly module: GoModule;
  readonly package: string;
  /** How long its first build takes on 2 cores, for people who wait. */
  readonly buildTime: string;
}

const kubernetesVersion = { full: 'v1.36.3', major: 1, minor: 36 };

const etcd: GoModule = { name: 'etcd' };
const cni: GoModule = { name: 'cni' };
const grpcurl: GoModule = { name: 'grpcurl' };
const s3: GoModule = { name: 's3' };
// Without these a server reports itself as v0.0.0, which kubectl can't parse.
const kubernetes: GoModule = {
  name: 'kubernetes',
  ldflags: Object.entries({
    gitVersion: kubernetesVersion.full,
    gitMajor: kubernetesVersion.major,
    gitMinor: kubernetesVersion.minor,
  })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' '),
};

/** Debian 12 still has 3.4, with another set of flags and known losses of watch events. */
const etcdRange: VersionRange = { from: [3, 6] };
const serverRange: VersionRange = { from: [1, 36], below: [1, 37] };
/** kubectl is supported within one minor version of the API server. */
const kubectlRange: VersionRange = { from: [1, 35], below: [1, 38] };

function plugin(kind: 'ipam' | 'main', name: string): ProgramEntry {
  return {
    variable: 'CNI_PLUGINS_DIR',
    variableNames: 'folder',
    module: cni,
    package: `github.com/containernetworking/plugins/plugins/${kind}/${name}`,
    buildTime: '5 s',
  };
}

export const catalogue = {
  etcd: {
    variable: 'ETCD_BIN',
    variableNames: 'file',
    version: { args: ['--version'], range: etcdRange },
    module: etcd,
    package: 'go.etcd.io/etcd/server/v3',
    buildTime: '20 s',
  },
  etcdctl: {
    variable: 'ETCDCTL_BIN',
    variableNames: 'file',
    version: { args: ['version'], range: etcdRange },
    module: etcd,
    package: 'go.etcd.io/etcd/etcdctl/v3',
    buildTime: '5 s',
  },
  etcdutl: {
    variable: 'ETCDUTL_BIN',
    variableNames: 'file',
    version: { args: ['version'], range: etcdRange },
    module: etcd,
    package: 'go.etcd.io/etcd/etcdutl/v3',
    buildTime: '5 s',
  },
  'kube-apiserver': {
    variable: 'KUBE_APISERVER_BIN',
    variableNames: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    buildTime: '3 min 30 s',
  },
  'kube-controller-manager': {
    variable: 'KUBE_CONTROLLER_MANAGER_BIN',
    variableNames: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    buildTime: '1 min',
  },
  'kube-scheduler': {
    variable: 'KUBE_SCHEDULER_BIN',
    variableNames: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-scheduler',
    buildTime: '5 s',
  },
  kubelet: {
    variable: 'KUBELET_BIN',
    variableNames: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kubelet',
    buildTime: '30 s',
  },
  kubectl: {
    variable: 'KUBECTL_BIN',
    variableNames: 'file',
    version: { args: ['version', '--client'], range: kubectlRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kubectl',
    buildTime: '15 s',
  },
  cnitool: {
    variable: 'CNITOOL_BIN',
    variableNames: 'file',
    module: cni,
    package: 'github.com/containernetworking/cni/cnitool',
    buildTime: '5 s',
  },
  grpcurl: {
    variable: 'GRPCURL_BIN',
    variableNames: 'file',
    module: grpcurl,
    package: 'github.com/fullstorydev/grpcurl/cmd/grpcurl',
    buildTime: '20 s',
  },
  versitygw: {
    variable: 'VERSITYGW_BIN',
    variableNames: 'file',
    module: s3,
    package: 'github.com/versity/versitygw/cmd/versitygw',
    buildTime: '1 min 30 s',
  },
  macvlan: plugin('main', 'macvlan'),
  bridge: plugin('main', 'bridge'),
  loopback: plugin('main', 'loopback'),
  static: plugin('ipam', 'static'),
  'host-local': plugin('ipam', 'host-local'),
} as const satisfies Record<string, ProgramEntry>;

export type ProgramName = keyof typeof catalogue;

export const programNames = Object.keys(catalogue) as ProgramName[];

/** The CNI project's reference plugins; taken from one folder, all or none, as CNI_PATH names folders. */
export const pluginNames = programNames.filter((name) => catalogue[name].variable === 'CNI_PLUGINS_DIR');
