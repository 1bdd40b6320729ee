/** The parts of Kubernetes objects that the add-ons use, small enough to be written by hand. */

/** Labels, selectors and the like. */
export type StringMap = Readonly<Record<string, string>>;

/** Metadata; `T` is the type of values that may be known only after the cloud answered. */
export interface ObjectMeta<T = string> {
  name: string;
  namespace?: string;
  labels?: StringMap;
  annotations?: Record<string, T>;
}

/** Head of every object. */
export interface KubernetesObject<Version extends string, Kind extends string, T = string> {
  apiVersion: Version;
  kind: Kind;
  metadata: ObjectMeta<T>;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: { fieldRef: { fieldPath: string } };
}

export interface Probe {
  httpGet?: { path: string; port: number | string; host?: string; scheme?: "HTTP" | "HTTPS" };
  exec?: { command: string[] };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
}

export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
  mountPropagation?: "Bidirectional" | "HostToContainer";
}

export interface SecurityContext {
  privileged?: boolean;
  runAsNonRoot?: boolean;
  allowPrivilegeEscalation?: boolean;
  readOnlyRootFilesystem?: boolean;
  capabilities?: { drop?: string[]; add?: string[] };
}

export interface Container {
  name: string;
  image: string;
  imagePullPolicy: "IfNotPresent";
  terminationMessagePolicy: "FallbackToLogsOnError";
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  ports?: { name: string; containerPort: number; protocol: "TCP" }[];
  volumeMounts?: VolumeMount[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  resources?: { requests: StringMap };
  securityContext?: SecurityContext;
}

export interface Volume {
  name: string;
  hostPath?: { path: string; type?: "Directory" | "DirectoryOrCreate" | "FileOrCreate" };
  secret?: { secretName: string; items?: { key: string; path: string }[] };
  configMap?: { name: string };
  emptyDir?: Record<string, never>;
  persistentVolumeClaim?: { claimName: string };
}

export interface Toleration {
  key?: string;
  operator?: "Exists" | "Equal";
  value?: string;
  effect?: "NoSchedule" | "NoExecute";
}

export interface PodSecurityContext {
  runAsNonRoot?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  fsGroup?: number;
  seccompProfile?: { type: "RuntimeDefault" };
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default";
  priorityClassName?: string;
  nodeSelector?: StringMap;
  tolerations?: Toleration[];
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: {
    maxSkew: number;
    topologyKey: string;
    whenUnsatisfiable: "ScheduleAnyway";
    labelSelector: { matchLabels: StringMap };
  }[];
  securityContext?: PodSecurityContext;
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
}

export interface PodTemplate<T = string> {
  metadata: { labels: StringMap; annotations?: Record<string, T> };
  spec: PodSpec;
}

export type DaemonSet<T = string> = KubernetesObject<"apps/v1", "DaemonSet"> & {
  spec: {
    selector: { matchLabels: StringMap };
    updateStrategy: { type: "RollingUpdate" };
    template: PodTemplate<T>;
  };
};

export type Deployment<T = string> = KubernetesObject<"apps/v1", "Deployment"> & {
  spec: {
    replicas: number;
    strategy?: { type: "Recreate" | "RollingUpdate" };
    selector: { matchLabels: StringMap };
    template: PodTemplate<T>;
  };
};

export type StatefulSet = KubernetesObject<"apps/v1", "StatefulSet"> & {
  spec: {
    replicas: number;
    serviceName: string;
    selector: { matchLabels: StringMap };
    template: PodTemplate;
  };
};

export type Namespace = KubernetesObject<"v1", "Namespace">;
export type ServiceAccount = KubernetesObject<"v1", "ServiceAccount"> & {
  automountServiceAccountToken?: boolean;
};
export type ConfigMap<T = string> = KubernetesObject<"v1", "ConfigMap"> & {
  data: Record<string, T>;
};
export type Secret<T = string> = KubernetesObject<"v1", "Secret"> & {
  type: "Opaque";
  stringData: Record<string, T>;
};
export type PersistentVolumeClaim = KubernetesObject<"v1", "PersistentVolumeClaim"> & {
  spec: {
    accessModes: "ReadWriteOnce"[];
    resources: { requests: { storage: string } };
  };
};
export type Service = KubernetesObject<"v1", "Service"> & {
  spec: {
    type: "LoadBalancer" | "ClusterIP";
    clusterIP?: "None";
    selector: StringMap;
    ports: { name: string; port: number; targetPort: number | string; protocol: "TCP" }[];
  };
};

export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}
interface RoleRef<Kind> {
  apiGroup: "rbac.authorization.k8s.io";
  kind: Kind;
  name: string;
}
interface Subject {
  kind: "ServiceAccount";
  name: string;
  namespace: string;
}
type RbacVersion = "rbac.authorization.k8s.io/v1";
export type ClusterRole = KubernetesObject<RbacVersion, "ClusterRole"> & { rules: PolicyRule[] };
export type Role = KubernetesObject<RbacVersion, "Role"> & { rules: PolicyRule[] };
export type ClusterRoleBinding = KubernetesObject<RbacVersion, "ClusterRoleBinding"> & {
  roleRef: RoleRef<"ClusterRole">;
  subjects: Subject[];
};
export type RoleBinding = KubernetesObject<RbacVersion, "RoleBinding"> & {
  roleRef: RoleRef<"Role">;
  subjects: Subject[];
};

export type CsiDriver = KubernetesObject<"storage.k8s.io/v1", "CSIDriver"> & {
  spec: {
    attachRequired: boolean;
    podInfoOnMount: boolean;
    fsGroupPolicy: "ReadWriteOnceWithFSType" | "File";
    volumeLifecycleModes: "Persistent"[];
  };
};
export type StorageClass = KubernetesObject<"storage.k8s.io/v1", "StorageClass"> & {
  provisioner: string;
  parameters: StringMap;
  reclaimPolicy: "Delete";
  volumeBindingMode: "WaitForFirstConsumer";
  allowVolumeExpansion: boolean;
};
