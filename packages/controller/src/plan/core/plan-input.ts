import type {
  AccessPlaneEntry,
  ApplicationParameter,
  ApplicationSession,
  Campaign,
  CampaignStep,
  ConfigurationEntry,
  ControlPlaneEntry,
  CveSignature,
  MalwareTransferValues,
  Task,
  TunnelType,
} from '@rushhour/contract';
import type { DictionaryDraft, MacRecord, NetworkDraft } from '@rushhour/pools';
import type { AgentInterface, EngineAbility } from '@rushhour/protocol';
import type { HarSummary } from '../../assets/har/compile-har.ts';
import type { HarIssue } from '../../assets/har/har-correlation.ts';
import type { HarWarning } from '../../assets/har/har-warnings.ts';
import type { ReadCampaigns } from '../../security/campaigns/read-campaigns.ts';
import type { BaselineSessions } from '../../security/fuzzing/recorded-session.ts';
import type { ApplicationRow } from '../../store/assets/applications.ts';

export interface TaskDefinition {
  readonly configuration: readonly ConfigurationEntry[];
  readonly accessPlane: readonly AccessPlaneEntry[];
  readonly controlPlane: readonly ControlPlaneEntry[];
  readonly dumps: Task['dumps'];
  /** 0 for a definition that is validated without being a stored task. */
  readonly taskId: number;
}

export interface PlanAgent {
  readonly id: number;
  readonly name: string;
  /** Agents with the same machine reach each other by loopback and share ports. */
  readonly machineId: string;
  readonly status: number;
  readonly isBlocked: boolean;
  readonly addresses: readonly string[];
  readonly interfaces: readonly AgentInterface[];
  readonly engines: readonly EngineAbility[];
  readonly cpuCores: number;
  /** Linux capabilities of its process, such as `cap_net_admin`. */
  readonly system: { readonly caps: readonly string[] };
  /** 0 = no limit. */
  readonly maxBps: number;
}

export interface PlanNetwork extends NetworkDraft {
  readonly id: number;
  readonly name: string;
  readonly l2PolicyVersion: number;
}

/** A MAC record, by whose id networks refer to it. */
export interface PlanMac extends MacRecord {
  readonly id: number;
}

export interface PlanTunnel {
  readonly name: string;
  readonly type: TunnelType;
  readonly clientIp: string;
  readonly serverIp: string;
  readonly endpoints: string;
  readonly count: number;
  /** Largest outer packet. */
  readonly mtu: number;
  /** With their secrets. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The certificate of both ends, where they authenticate by one. */
  readonly certificate?: PlanCertificate | undefined;
}

export interface PlanCertificate {
  readonly name: string;
  /** PEM of the chain. */
  readonly certificate: string;
  /** PEM; empty without a private key. */
  readonly privateKey: string;
}

export interface PlanDictionary {
  readonly name: string;
  /** Distinct values of the first column, up to a limit. */
  readonly values: readonly string[];
  /** Every column, up to the same limit; values of one row have the same index. */
  readonly columns?: Readonly<Record<string, readonly string[]>>;
  /** The dictionary holds more than `values`. */
  readonly isCut: boolean;
  /** Why its values cannot be read. */
  readonly problem?: string;
}

/** A dictionary of type `protocol.<name>`. */
export interface PlanProfile {
  readonly name: string;
  readonly protocol: string;
  /** As stored, without defaults. */
  readonly config: object;
}

export interface PlanFile {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly isReady: boolean;
}

/** The part of a campaign that is played. */
export interface PlanCampaign extends Pick<Campaign, 'id' | 'name' | 'parameters'> {
  readonly steps: readonly CampaignStep[];
}

/** An application with everything needed to play it. */
export interface PlanApplication extends ApplicationRow {
  readonly parameters: readonly ApplicationParameter[];
  readonly sessions: readonly ApplicationSession[];
  /** The capture its steps are read from; undefined when the file does not exist. */
  readonly capture: PlanFile | undefined;
}

/** A whole dictionary that agents draw from, or why it cannot be read. */
export interface PlanTable {
  readonly name: string;
  readonly draft?: DictionaryDraft;
  readonly problem?: string;
}

export interface PlanApplications {
  readonly byId: ReadonlyMap<number, PlanApplication>;
  readonly tables: ReadonlyMap<number, PlanTable>;
}

interface Unreadable {
  readonly problem: { readonly code: string; readonly message: string };
}

/** A session of a capture that sockets can replay. */
export interface PlanSession {
  readonly sessionIndex: number;
  readonly protocol: string;
  readonly dstPort: number;
  readonly bytesC2S: number;
  readonly bytesS2C: number;
}

export type PlanCapture = { readonly sessions: readonly PlanSession[] } | Unreadable;

/** The files that agents replay of a HAR recording. */
export type PlanRecording =
  | {
      readonly client: Pick<PlanFile, 'sha256' | 'size'>;
      readonly server: Pick<PlanFile, 'sha256' | 'size'>;
      readonly summary: HarSummary;
      readonly warnings: readonly HarWarning[];
      readonly issues: readonly HarIssue[];
    }
  | Unreadable;

/** What fuzzing changes of an application, a capture or a HAR. */
export type PlanBaseline = BaselineSessions | Unreadable;

export type Compression = MalwareTransferValues['payload']['delivery'][number]['compression'];

/** A sample as agents get it: sealed with a key of this task. */
export interface SampleCopy {
  /** Of the bytes before they were sealed. */
  readonly plainSha256: string;
  /** Of the sealed bytes. */
  readonly sha256: string;
  readonly size: number;
  readonly key: string;
  readonly nonce: string;
  readonly tag: string;
}

export interface PlanSample {
  readonly id: number;
  readonly name: string;
  readonly mime: string;
  readonly type: string;
  readonly family: string;
  readonly isBuiltin: boolean;
  readonly inert: boolean;
  readonly kind: string;
  readonly container: readonly string[];
  readonly depth: number;
  readonly encoding: string;
  readonly copies: ReadonlyMap<Compression, SampleCopy>;
}

/** Everything a plan is computed from. A record that the task names and that does not exist is missing from its map. */
export interface PlanInput {
  readonly definition: TaskDefinition;
  readonly agents: ReadonlyMap<number, PlanAgent>;
  /** Addresses of all enrolled agents: all of them are allowed targets. */
  readonly agentAddresses: ReadonlySet<string>;
  readonly networks: ReadonlyMap<number, PlanNetwork>;
  /** MAC records that the networks refer to. */
  readonly macs: ReadonlyMap<number, PlanMac>;
  readonly tunnels: ReadonlyMap<number, PlanTunnel>;
  readonly certificates: ReadonlyMap<number, PlanCertificate>;
  readonly dictionaries: ReadonlyMap<number, PlanDictionary>;
  /** Parameters of protocols, by the id of their dictionary. */
  readonly profiles: ReadonlyMap<number, PlanProfile>;
  readonly files: ReadonlyMap<number, PlanFile>;
  readonly samples: ReadonlyMap<number, PlanSample>;
  /** By the path of the entry that replays it. */
  readonly recordings: ReadonlyMap<string, PlanRecording>;
  readonly applications: PlanApplications;
  /** By the path of the entry that replays its sessions. */
  readonly captures: ReadonlyMap<string, PlanCapture>;
  /** By the path of the entry that changes it. */
  readonly baselines: ReadonlyMap<string, PlanBaseline>;
  readonly signatures: ReadonlyMap<number, CveSignature>;
  readonly campaigns: ReadonlyMap<number, PlanCampaign>;
  /** Campaigns in files, by the id of the file. */
  readonly campaignFiles: ReadonlyMap<number, ReadCampaigns>;
  readonly allowedTargets: readonly string[];
  readonly dumpLimits: { readonly maxBytesPerRun: number; readonly defaultSavelen: number };
}
