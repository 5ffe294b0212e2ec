{{/* Labels of an object. Takes a dict with root and component. */}}
{{- define "ipledger.labels" -}}
{{ include "ipledger.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- end }}

{{- define "ipledger.selector" -}}
app.kubernetes.io/name: ipledger
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* The image reference of a program. Takes a dict with root and image. */}}
{{- define "ipledger.image" -}}
{{- $name := .image.repository -}}
{{- if .image.registry }}{{ $name = printf "%s/%s" .image.registry .image.repository }}{{ end -}}
{{- if .image.digest }}{{ $name }}@{{ .image.digest }}{{ else }}{{ $name }}:{{ .image.tag | default .root.Chart.AppVersion }}{{ end -}}
{{- end }}

{{/* All addresses of the Pod, and the Pod's own address, with brackets for IPv6. */}}
{{- define "ipledger.anyAddress" -}}{{ if eq .Values.ipFamily "IPv6" }}[::]{{ else }}0.0.0.0{{ end }}{{- end }}
{{- define "ipledger.podAddress" -}}{{ if eq .Values.ipFamily "IPv6" }}[$(POD_IP)]{{ else }}$(POD_IP){{ end }}{{- end }}

{{/* The endpoints of the allocators: the Service, then a replica by its own address. */}}
{{- define "ipledger.allocators" -}}
ipledger-allocator.{{ .Release.Namespace }}.svc:7411,ipledger-allocator-replicas.{{ .Release.Namespace }}.svc:7411
{{- end }}

{{- define "ipledger.isTls" -}}{{ if ne .Values.tls.mode "insecure" }}true{{ end }}{{- end }}
{{/* Whether agents identify by tokens. */}}
{{- define "ipledger.hasTokens" -}}{{ if and (include "ipledger.isTls" .) (eq .Values.agent.identity "token") }}true{{ end }}{{- end }}
{{/* Whether people identify by their Kubernetes tokens. */}}
{{- define "ipledger.hasUsers" -}}{{ if and (include "ipledger.isTls" .) .Values.kubernetesUsers }}true{{ end }}{{- end }}
{{/* The Secret whose ca.crt is the authority of the allocators; empty if the values name none. */}}
{{- define "ipledger.authoritySecret" -}}
{{ include "ipledger.secret" (dict "root" . "existing" .Values.tls.secrets.agentAuthority "issued" "ipledger-agent-authority") }}
{{- end }}
{{- define "ipledger.isManagedEtcd" -}}{{ if eq .Values.etcd.mode "managed" }}true{{ end }}{{- end }}

{{/* The Secret of a program: takes a dict with root, existing (its name in tls.secrets) and issued. */}}
{{- define "ipledger.secret" -}}
{{- if eq .root.Values.tls.mode "certManager" }}{{ .issued }}{{ else }}{{ .existing }}{{ end -}}
{{- end }}

{{/* The Secret of the allocator's etcd client certificate; empty without TLS. */}}
{{- define "ipledger.etcdSecret" -}}
{{- if include "ipledger.isManagedEtcd" . -}}
{{- if include "ipledger.isTls" . }}{{ include "ipledger.secret" (dict "root" . "existing" .Values.etcd.managed.secrets.allocator "issued" "ipledger-etcd-allocator") }}{{ end -}}
{{- else }}{{ .Values.etcd.external.tlsSecret }}{{ end -}}
{{- end }}

{{- define "ipledger.etcdRootSecret" -}}
{{ include "ipledger.secret" (dict "root" . "existing" .Values.etcd.managed.secrets.root "issued" "ipledger-etcd-root") }}
{{- end }}

{{/* The Secret of etcd's user for auditors; empty if the values name none. */}}
{{- define "ipledger.etcdAuditorSecret" -}}
{{- if and (include "ipledger.isManagedEtcd" .) (include "ipledger.isTls" .) }}{{ include "ipledger.secret" (dict "root" . "existing" .Values.etcd.managed.secrets.auditor "issued" "ipledger-etcd-auditor") }}{{ end -}}
{{- end }}

{{- define "ipledger.etcdScheme" -}}{{ if include "ipledger.isTls" . }}https{{ else }}http{{ end }}{{- end }}

{{- define "ipledger.etcdEndpoints" -}}
{{- if include "ipledger.isManagedEtcd" . -}}
{{- $root := . -}}
{{- $urls := list -}}
{{- range $i := until (int .Values.etcd.managed.members) -}}
{{- $urls = append $urls (printf "%s://ipledger-etcd-%d.ipledger-etcd.%s.svc:2379" (include "ipledger.etcdScheme" $root) $i $root.Release.Namespace) -}}
{{- end -}}
{{ join "," $urls }}
{{- else }}{{ join "," .Values.etcd.external.endpoints }}{{ end -}}
{{- end }}

{{/* The environment of a program with a certificate in /tls. */}}
{{- define "ipledger.tlsEnvironment" -}}
- { name: IPLEDGER_TLS_CA, value: /tls/ca.crt }
- { name: IPLEDGER_TLS_CERT, value: /tls/tls.crt }
- { name: IPLEDGER_TLS_KEY, value: /tls/tls.key }
{{- end }}

{{/* The environment of a program that sends traces. */}}
{{- define "ipledger.tracingEnvironment" -}}
{{- with .Values.tracing.endpoint -}}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }} }
- { name: IPLEDGER_TRACE_RATIO, value: {{ $.Values.tracing.ratio | quote }} }
{{- end }}
{{- end }}

{{/* NODE_OPTIONS of a program, from files/node-options.json. Takes a dict with root and program. */}}
{{- define "ipledger.nodeOptions" -}}
- { name: NODE_OPTIONS, value: {{ index (.root.Files.Get "files/node-options.json" | fromJson) .program | quote }} }
{{- end }}

{{/* The security of a container that needs no privilege. */}}
{{- define "ipledger.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "ipledger.restrictedPod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* The health addresses of a program on the Pod network: a port for the kubelet's probes, which no NetworkPolicy opens, and the metrics port. */}}
{{- define "ipledger.healthListen" -}}
{{ include "ipledger.anyAddress" . }}:8080,{{ include "ipledger.anyAddress" . }}:8081
{{- end }}

{{/* The probes of the kubelet. Takes a dict with port, and host if it is not the Pod's address. */}}
{{- define "ipledger.probes" -}}
startupProbe:
  httpGet: { {{ with .host }}host: {{ . }}, {{ end }}path: /livez, port: {{ .port }} }
  periodSeconds: 2
  failureThreshold: 90
livenessProbe:
  httpGet: { {{ with .host }}host: {{ . }}, {{ end }}path: /livez, port: {{ .port }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { {{ with .host }}host: {{ . }}, {{ end }}path: /readyz, port: {{ .port }} }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{/* Spreads Pods over nodes if possible, and evenly over zones. Takes a dict with root, component and required. */}}
{{- define "ipledger.spread" -}}
affinity:
  podAntiAffinity:
    {{- if .required }}
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "ipledger.selector" . | nindent 12 }}
    {{- else }}
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "ipledger.selector" . | nindent 14 }}
    {{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "ipledger.selector" . | nindent 8 }}
{{- end }}

{{/* The placement of a Pod. Takes the values of one program. */}}
{{- define "ipledger.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "ipledger.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "ipledger.etcdctlEnvironment" -}}
- { name: ETCDCTL_ENDPOINTS, value: {{ include "ipledger.etcdEndpoints" . | quote }} }
{{- if include "ipledger.isTls" . }}
- { name: ETCDCTL_CACERT, value: /tls/ca.crt }
- { name: ETCDCTL_CERT, value: /tls/tls.crt }
- { name: ETCDCTL_KEY, value: /tls/tls.key }
{{- end }}
{{- end }}
{{- define "ipledger.etcdPeer" -}}
{{ include "ipledger.etcdScheme" .root }}://ipledger-etcd-{{ .index }}.ipledger-etcd.{{ .root.Release.Namespace }}.svc:2380
{{- end }}
{{/* The members of etcd as --initial-cluster, separated by commas. */}}
{{- define "ipledger.etcdInitialCluster" -}}
{{- range $i := until (int .Values.etcd.managed.members) }}
{{- if $i }},{{ end }}ipledger-etcd-{{ $i }}={{ include "ipledger.etcdPeer" (dict "root" $ "index" $i) }}
{{- end }}
{{- end }}
{{/* The Pod of a Job of etcd. Takes the root, the account of a Job that calls the Kubernetes API, and another restartPolicy. */}}
{{- define "ipledger.etcdJobPod" -}}
serviceAccountName: {{ .account | default "ipledger-etcd" }}
automountServiceAccountToken: {{ hasKey . "account" }}
restartPolicy: {{ .restartPolicy | default "OnFailure" }}
{{- include "ipledger.pullSecrets" . }}
{{- include "ipledger.placement" .Values.etcd.managed }}
securityContext:
  {{- include "ipledger.restrictedPod" . | nindent 2 }}
{{- end }}
{{- define "ipledger.jobResources" -}}
requests: { cpu: 50m, memory: 64Mi }
limits: { memory: 512Mi }
{{- end }}

{{/* The API group of Subnets, IPPools, Vips and IP objects. */}}
{{- define "ipledger.objectGroup" -}}
{{ ternary "ipam.ipledger.io" "kubeovn.io" .Values.besideKubeOvn }}
{{- end }}
