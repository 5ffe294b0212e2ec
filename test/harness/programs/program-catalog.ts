/**
 * The programs that demo and tests start: the variable that selects one, the versions in range, and
 * the Go package.
 */
import type { VersionRange } from './version.ts';

/**
 * A Go module in test/tools/<name>; its go.mod and go.sum pin the versions. It may have a program
 * of its own.
 */
export interface GoModule {
  readonly name:
    | 'cert-manager'
    | 'cni'
    | 'coredns'
    | 'crane'
    | 'etcd'
    | 'grpcurl'
    | 'helm'
    | 'helm3'
    | 'history-checker'
    | 'kubernetes'
    | 'process-timer'
    | 's3'
    | 'whereabouts';
  /** Linker flags besides `-s -w`. */
  readonly ldflags?: string;
}

export interface ProgramEntry {
  /** Environment variable with the program's file (for a CNI plugin: its folder). */
  readonly variable: string;
  readonly variableKind: 'file' | 'folder';
  /**
   * The arguments that print its version, and the range of usable versions; without it, all are
   * usable.
   */
  readonly version?: { readonly args: readonly string[]; readonly range: VersionRange };
  readonly module: GoModule;
  readonly package: string;
  /** The only make target that needs it. `make programs` does not build it. */
  readonly onlyFor?: 'bench' | 'e2e-chart';
  /** Duration of its first build on 2 cores, after the programs of its module above it. */
  readonly buildSeconds: number;
}

const kubernetesVersion = { full: 'v1.36.3', major: 1, minor: 36 };

const etcd: GoModule = { name: 'etcd' };
const cni: GoModule = { name: 'cni' };
const certManager: GoModule = { name: 'cert-manager' };
const coredns: GoModule = { name: 'coredns' };
const crane: GoModule = { name: 'crane' };
const grpcurl: GoModule = { name: 'grpcurl' };
const processTimer: GoModule = { name: 'process-timer' };
const historyChecker: GoModule = { name: 'history-checker' };
const s3: GoModule = { name: 's3' };
const whereabouts: GoModule = { name: 'whereabouts' };
const helm: GoModule = { name: 'helm', ldflags: '-X helm.sh/helm/v4/internal/version.version=v4.3.1' };
const helm3: GoModule = { name: 'helm3', ldflags: '-X helm.sh/helm/v3/internal/version.version=v3.22.0' };
// A server without these flags reports v0.0.0, which kubectl can't parse
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

/** The range of etcd. Debian 12 has 3.4, with other flags and known losses of watch events. */
const etcdRange: VersionRange = { from: [3, 6] };
const serverRange: VersionRange = { from: [1, 36], below: [1, 37] };
/** The range of kubectl, which supports API servers within one minor version. */
const kubectlRange: VersionRange = { from: [1, 35], below: [1, 38] };

function plugin(kind: 'ipam' | 'main', name: string): ProgramEntry {
  return {
    variable: 'CNI_PLUGINS_DIR',
    variableKind: 'folder',
    module: cni,
    package: `github.com/containernetworking/plugins/plugins/${kind}/${name}`,
    buildSeconds: 5,
  };
}

export const programCatalog = {
  etcd: {
    variable: 'ETCD_BIN',
    variableKind: 'file',
    version: { args: ['--version'], range: etcdRange },
    module: etcd,
    package: 'go.etcd.io/etcd/server/v3',
    buildSeconds: 20,
  },
  etcdctl: {
    variable: 'ETCDCTL_BIN',
    variableKind: 'file',
    version: { args: ['version'], range: etcdRange },
    module: etcd,
    package: 'go.etcd.io/etcd/etcdctl/v3',
    buildSeconds: 5,
  },
  etcdutl: {
    variable: 'ETCDUTL_BIN',
    variableKind: 'file',
    version: { args: ['version'], range: etcdRange },
    module: etcd,
    package: 'go.etcd.io/etcd/etcdutl/v3',
    buildSeconds: 5,
  },
  'kube-apiserver': {
    variable: 'KUBE_APISERVER_BIN',
    variableKind: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-apiserver',
    buildSeconds: 210,
  },
  'kube-controller-manager': {
    variable: 'KUBE_CONTROLLER_MANAGER_BIN',
    variableKind: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    buildSeconds: 60,
  },
  'kube-scheduler': {
    variable: 'KUBE_SCHEDULER_BIN',
    variableKind: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-scheduler',
    buildSeconds: 5,
  },
  kubelet: {
    variable: 'KUBELET_BIN',
    variableKind: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kubelet',
    buildSeconds: 30,
  },
  kubectl: {
    variable: 'KUBECTL_BIN',
    variableKind: 'file',
    version: { args: ['version', '--client'], range: kubectlRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kubectl',
    buildSeconds: 15,
  },
  'kube-proxy': {
    variable: 'KUBE_PROXY_BIN',
    variableKind: 'file',
    version: { args: ['--version'], range: serverRange },
    module: kubernetes,
    package: 'k8s.io/kubernetes/cmd/kube-proxy',
    onlyFor: 'e2e-chart',
    buildSeconds: 20,
  },
  coredns: {
    variable: 'COREDNS_BIN',
    variableKind: 'file',
    module: coredns,
    package: 'ipledger/test/tools/coredns',
    onlyFor: 'e2e-chart',
    buildSeconds: 60,
  },
  crane: {
    variable: 'CRANE_BIN',
    variableKind: 'file',
    module: crane,
    package: 'github.com/google/go-containerregistry/cmd/crane',
    buildSeconds: 30,
  },
  cnitool: {
    variable: 'CNITOOL_BIN',
    variableKind: 'file',
    module: cni,
    package: 'github.com/containernetworking/cni/cnitool',
    buildSeconds: 5,
  },
  grpcurl: {
    variable: 'GRPCURL_BIN',
    variableKind: 'file',
    module: grpcurl,
    package: 'github.com/fullstorydev/grpcurl/cmd/grpcurl',
    buildSeconds: 20,
  },
  versitygw: {
    variable: 'VERSITYGW_BIN',
    variableKind: 'file',
    module: s3,
    package: 'github.com/versity/versitygw/cmd/versitygw',
    buildSeconds: 90,
  },
  helm: {
    variable: 'HELM_BIN',
    variableKind: 'file',
    // The first line of output: version.BuildInfo{Version:"v4.3.1", …
    version: { args: ['version'], range: { from: [4, 0] } },
    module: helm,
    package: 'helm.sh/helm/v4/cmd/helm',
    buildSeconds: 400,
  },
  helm3: {
    variable: 'HELM3_BIN',
    variableKind: 'file',
    version: { args: ['version'], range: { from: [3, 17], below: [4, 0] } },
    module: helm3,
    package: 'helm.sh/helm/v3/cmd/helm',
    buildSeconds: 300,
  },
  'cert-manager': {
    variable: 'CERT_MANAGER_BIN',
    variableKind: 'file',
    module: certManager,
    package: 'ipledger/test/tools/cert-manager',
    buildSeconds: 170,
  },
  'attach-networks': {
    variable: 'ATTACH_NETWORKS_BIN',
    variableKind: 'file',
    module: cni,
    package: 'ipledger/test/tools/cni/attach-networks',
    buildSeconds: 5,
  },
  'process-timer': {
    variable: 'PROCESS_TIMER_BIN',
    variableKind: 'file',
    module: processTimer,
    package: 'ipledger/test/tools/process-timer',
    buildSeconds: 1,
  },
  'history-checker': {
    variable: 'HISTORY_CHECKER_BIN',
    variableKind: 'file',
    module: historyChecker,
    package: 'ipledger/test/tools/history-checker',
    buildSeconds: 3,
  },
  whereabouts: {
    variable: 'WHEREABOUTS_BIN',
    variableKind: 'file',
    module: whereabouts,
    package: 'github.com/k8snetworkplumbingwg/whereabouts/cmd',
    onlyFor: 'bench',
    buildSeconds: 100,
  },
  ptp: plugin('main', 'ptp'),
  macvlan: plugin('main', 'macvlan'),
  bridge: plugin('main', 'bridge'),
  loopback: plugin('main', 'loopback'),
  static: plugin('ipam', 'static'),
  'host-local': plugin('ipam', 'host-local'),
} as const satisfies Record<string, ProgramEntry>;

export type ProgramName = keyof typeof programCatalog;

export const programNames = Object.keys(programCatalog) as ProgramName[];

/**
 * The CNI project's reference plugins. All come from one folder, because CNI_PATH lists folders.
 */
export const pluginNames = programNames.filter((name) => programCatalog[name].variable === 'CNI_PLUGINS_DIR');
