import type { OpenFlowTopology, OpenFlowVersion } from '@rushhour/wire';

export interface GptpProfile {
  readonly clock: {
    readonly role: 'auto' | 'follower' | 'leader';
    readonly domain: number;
    readonly priority1: number;
    readonly priority2: number;
    readonly clockClass: number;
    readonly accuracy: number;
    readonly variance: number;
    readonly identity?: string;
  };
  readonly port: {
    readonly announceLog: number;
    readonly syncLog: number;
    readonly delayLog: number;
    readonly announceTimeout: number;
    readonly syncTimeout: number;
    readonly twoStep: boolean;
    readonly delayThresholdNs: number;
  };
  readonly error: { readonly offsetNs: number; readonly driftPpb: number; readonly lossPct: number };
}

export interface OpenFlowProfile {
  readonly channel: {
    readonly controllerAddress?: string;
    readonly port: number;
    readonly version: OpenFlowVersion;
    readonly tls: boolean;
    readonly echoSec: number;
    readonly reconnectMs: number;
  };
  readonly switch: {
    readonly count: number;
    readonly datapathIdStart: string;
    readonly ports: number;
    readonly tables: number;
    readonly maxFlows: number;
    readonly description: string;
  };
  readonly load: {
    readonly packetInPerSec: number;
    readonly hosts: number;
    readonly topology: OpenFlowTopology;
  };
  readonly flaps: { readonly intervalSec: number; readonly downSec: number; readonly count: number };
}
