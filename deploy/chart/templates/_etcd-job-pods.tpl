{{/* The Pods of the Jobs of etcd. A Job's name contains the hash of its Pod. */}}
{{- define "ipledger.etcdUsersPod" -}}
{{- $labels := dict "root" . "component" "etcd-jobs" }}
{{- $image := include "ipledger.image" (dict "root" . "image" .Values.image) -}}
metadata:
  labels:
    {{- include "ipledger.labels" $labels | nindent 4 }}
spec:
  {{- include "ipledger.etcdJobPod" (merge (dict "account" "ipledger-etcd-users") .) | nindent 2 }}
  containers:
    - name: etcd-users
      image: {{ $image }}
      terminationMessagePolicy: FallbackToLogsOnError
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command:
        - /usr/local/bin/node
        - /scripts/etcd-users.mjs
        - /api/v1/namespaces/{{ .Release.Namespace }}/configmaps/ipledger-etcd-state
      env:
        {{- include "ipledger.etcdctlEnvironment" . | nindent 8 }}
      resources:
        {{- include "ipledger.jobResources" . | nindent 8 }}
      securityContext:
        {{- include "ipledger.restricted" . | nindent 8 }}
      volumeMounts:
        - { name: tls, mountPath: /tls, readOnly: true }
        - { name: scripts, mountPath: /scripts, readOnly: true }
  volumes:
    - name: tls
      secret: { secretName: {{ include "ipledger.etcdRootSecret" . | trim }}, defaultMode: 0440 }
    - name: scripts
      configMap: { name: ipledger-etcd-users }
{{- end }}

{{- define "ipledger.etcdBackupPod" -}}
{{- $labels := dict "root" . "component" "etcd-jobs" }}
{{- $v := .Values.etcd.managed }}
{{- $isTls := include "ipledger.isTls" . }}
{{- $image := include "ipledger.image" (dict "root" . "image" .Values.image) }}
{{- $etcdImage := include "ipledger.image" (dict "root" . "image" $v.image) }}
{{- $claim := $v.backup.existingClaim | default "ipledger-etcd-backup" -}}
metadata:
  labels:
    {{- include "ipledger.labels" $labels | nindent 4 }}
spec:
  {{- include "ipledger.etcdJobPod" . | nindent 2 }}
  initContainers:
    - name: snapshot
      image: {{ $etcdImage }}
      terminationMessagePolicy: FallbackToLogsOnError
      imagePullPolicy: {{ $v.image.pullPolicy }}
      command: [etcdctl, snapshot, save, /backup/$(POD_NAME).db, --command-timeout=300s]
      env:
        - name: POD_NAME
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        {{- /* An endpoint that leads to any member that accepts a connection. */}}
        {{- $any := printf "%s://ipledger-etcd.%s.svc:2379" (include "ipledger.etcdScheme" .) .Release.Namespace }}
        {{- include "ipledger.etcdctlEnvironment" . | replace (include "ipledger.etcdEndpoints" .) $any | nindent 8 }}
      resources:
        {{- include "ipledger.jobResources" . | nindent 8 }}
      securityContext:
        {{- include "ipledger.restricted" . | nindent 8 }}
      volumeMounts:
        - { name: backup, mountPath: /backup }
        {{- if $isTls }}
        - { name: tls, mountPath: /tls, readOnly: true }
        {{- end }}
  containers:
    - name: delete-old-backups
      image: {{ $image }}
      terminationMessagePolicy: FallbackToLogsOnError
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [/usr/local/bin/node, /scripts/delete-old-backups.mjs, /backup, {{ int $v.backup.keep | quote }}]
      resources:
        {{- include "ipledger.jobResources" . | nindent 8 }}
      securityContext:
        {{- include "ipledger.restricted" . | nindent 8 }}
      volumeMounts:
        - { name: backup, mountPath: /backup }
        - { name: scripts, mountPath: /scripts, readOnly: true }
  volumes:
    - name: backup
      persistentVolumeClaim: { claimName: {{ $claim }} }
    - name: scripts
      configMap: { name: ipledger-etcd-backup }
    {{- if $isTls }}
    - name: tls
      secret: { secretName: {{ include "ipledger.etcdRootSecret" . | trim }}, defaultMode: 0440 }
    {{- end }}
{{- end }}
