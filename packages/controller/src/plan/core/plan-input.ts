import type {
  AccessPlaneEntry,
  Campaign,
  CampaignStep,
  ConfigurationEntry,
  ControlPlaneEntry,
  CveSignature,
  Task,
} from '@rushhour/contract';
import type { NetworkDraft } from '@rushhour/pools';
import type { AgentInterface, EngineAbility } from '@rushhour/protocol';
import type { PlanApplications } from '../content/plan-applications.ts';
import type { PlanCapture } from '../content/plan-captures.ts';
import type { PlanRecording } from '../content/plan-recordings.ts';
import type { PlanSample } from '../content/plan-samples.ts';

/** What a task says. */
export interface TaskDefinition {
  readonly configuration: readonly ConfigurationEntry[];
  readonly accessPlane: readonly AccessPlaneEntry[];
  readonly controlPlane: readonly ControlPlaneEntry[];
  readonly dumps: Task['dumps'];
  /** 0 where it is only looked at. */
  readonly taskId: number;
}

export interface PlanAgent {
  readonly id: number;
  readonly name: string;
  /** Agents with the same one reach each other by loopback and share ports. */
  readonly machineId: string;
  readonly status: number;
  readonly isBlocked: boolean;
  readonly addresses: readonly string[];
  readonly interfaces: readonly AgentInterface[];
  readonly engines: readonly EngineAbility[];
  readonly cpuCores: number;
  /** What its process may do, as Linux names it, such as `cap_net_admin`. */
  readonly system: { readonly caps: readonly string[] };
  /** 0 = no limit. */
  readonly maxBps: number;
}

export interface PlanNetwork extends NetworkDraft {
  readonly id: number;
  readonly name: string;
  readonly l2PolicyVersion: number;
}

export interface PlanCertificate {
  readonly name: string;
  /** PEM of the chain. */
  readonly certificate: string;
  /** PEM; empty where there is none. */
  readonly privateKey: string;
}

export interface PlanDictionary {
  readonly name: string;
  /** Of its first column, the first of them. */
  readonly values: readonly string[];
  /** Of every column, the first of them; what belongs to one row has the same place. */
  readonly columns?: Readonly<Record<string, readonly string[]>>;
  /** There are more than `values` holds. */
  readonly isCut: boolean;
  /** Why its values cannot be had. */
  readonly problem?: string;
}

export interface PlanFile {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
  readonly isReady: boolean;
}

/** What is played of a campaign. */
export interface PlanCampaign extends Pick<Campaign, 'id' | 'name' | 'parameters'> {
  readonly steps: readonly CampaignStep[];
}

/** Everything a plan is made from, already read. What is named but not there is missing from the maps. */
export interface PlanInput {
  readonly definition: TaskDefinition;
  readonly agents: ReadonlyMap<number, PlanAgent>;
  /** Of all agents that are enrolled, named in the task or not: traffic may go there. */
  readonly agentAddresses: ReadonlySet<string>;
  readonly networks: ReadonlyMap<number, PlanNetwork>;
  readonly certificates: ReadonlyMap<number, PlanCertificate>;
  readonly dictionaries: ReadonlyMap<number, PlanDictionary>;
  readonly files: ReadonlyMap<number, PlanFile>;
  readonly samples: ReadonlyMap<number, PlanSample>;
  /** By the path of the entry that plays it. */
  readonly recordings: ReadonlyMap<string, PlanRecording>;
  readonly applications: PlanApplications;
  /** By the path of the entry that plays its sessions. */
  readonly captures: ReadonlyMap<string, PlanCapture>;
  readonly signatures: ReadonlyMap<number, CveSignature>;
  readonly campaigns: ReadonlyMap<number, PlanCampaign>;
  readonly allowedTargets: readonly string[];
  readonly dumpLimits: { readonly maxBytesPerRun: number; readonly defaultSavelen: number };
}
